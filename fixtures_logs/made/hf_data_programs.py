"""How the logs of datasets, pandas and pyarrow in made/hf were made; see hf_programs.py."""

from hf_programs import VENVS, hub, job

LIBS4 = "datasets 4.0.0, python 3.11"

HEAD = """
import logging, sys
import datasets, pyarrow as pa, pyarrow.parquet as pq
from datasets import Dataset, load_dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("prep")
log.info("python %s, datasets %s, pyarrow %s", sys.version.split()[0], datasets.__version__, pa.__version__)
ROWS = [{"question": f"Natalia sold {n} clips. How many?", "answer": str(n), "extra_info": {"index": n}} for n in range(500)]
"""

# fcntl.flock as a mount without locks answers (NFS without lockd, some FUSE and Lustre mounts).
NO_LOCKS = """cat > nolock.c <<'C'
#include <errno.h>
int flock(int fd, int op) { errno = ENOLCK_OR; return -1; }
C
gcc -shared -fPIC -DENOLCK_OR=%s nolock.c -o nolock.so
LD_PRELOAD=$PWD/nolock.so python train.py"""

PROGRAMS = {
    "script-needs-trust": job(
        "DAT002",
        "a folder with a loading script, load_dataset without trust_remote_code",
        "v446",
        HEAD
        + """
ds = load_dataset("/home/user/drivers/my_math", split="train")
log.info("rows %d", len(ds))
""",
        run="""mkdir -p ../my_math
cat > ../my_math/my_math.py <<'E'
import datasets
class MyMath(datasets.GeneratorBasedBuilder):
    def _info(self): return datasets.DatasetInfo(features=datasets.Features({"q": datasets.Value("string")}))
    def _split_generators(self, dl): return [datasets.SplitGenerator(name="train")]
    def _generate_examples(self):
        for n in range(10): yield n, {"q": str(n)}
E
python train.py""",
    ),
    "script-needs-trust-36": job(
        "DAT002",
        "a folder with a loading script, load_dataset with trust_remote_code=False",
        "v457",
        HEAD
        + """
ds = load_dataset("/home/user/drivers/my_math", split="train", trust_remote_code=False)
log.info("rows %d", len(ds))
""",
        run="""mkdir -p ../my_math
cat > ../my_math/my_math.py <<'E'
import datasets
class MyMath(datasets.GeneratorBasedBuilder):
    def _info(self): return datasets.DatasetInfo(features=datasets.Features({"q": datasets.Value("string")}))
    def _split_generators(self, dl): return [datasets.SplitGenerator(name="train")]
    def _generate_examples(self):
        for n in range(10): yield n, {"q": str(n)}
E
python train.py""",
    ),
    "dataset-not-on-hub": job(
        "DAT007",
        "a misspelled dataset name, the Hub answers 404",
        "v457",
        HEAD
        + """
ds = load_dataset("openai/gsm8kk", "main", split="train")
""",
        run=hub("missing"),
    ),
    "dataset-not-on-hub-v5": job(
        "DAT007",
        "a private dataset without a token, the Hub answers 401",
        "v5",
        HEAD
        + """
ds = load_dataset("myorg/math-private", split="train")
""",
        run=hub("private"),
    ),
    "dataset-gated": job(
        "DAT007",
        "a gated dataset without a token",
        "v457",
        HEAD
        + """
ds = load_dataset("myorg/math-gated", split="train")
""",
        run=hub("gated"),
    ),
    "saved-to-disk-loaded": job(
        "DAT009",
        "load_dataset of a folder written by save_to_disk",
        "v457",
        HEAD
        + """
Dataset.from_list(ROWS).save_to_disk("math_train")
ds = load_dataset("math_train", split="train")
log.info("rows %d", len(ds))
""",
    ),
    "loaded-from-disk-parquet": job(
        "DAT009",
        "load_from_disk of a folder of parquet files",
        "v5",
        HEAD
        + """
from datasets import load_from_disk

ds = load_from_disk("/home/user/data/gsm8k")
log.info("rows %d", len(ds))
""",
    ),
    "parquet-cut-off-pandas": job(
        "DAT011",
        "pandas reads a parquet file whose copy was cut off",
        "v457",
        HEAD
        + """
import pandas as pd

for split in ("test", "train"):
    df = pd.read_parquet(f"data/{split}.parquet")
    log.info("%s: %d rows", split, len(df))
""",
        run="cp -r /home/user/data/gsm8k data\ntruncate -s 4000 data/train.parquet\nls -l data\npython train.py",
    ),
    "columns-differ": job(
        "DAT013",
        "two parquet files, the second with one column more",
        "v457",
        HEAD
        + """
pq.write_table(pa.Table.from_pylist(ROWS), "a.parquet")
pq.write_table(pa.Table.from_pylist([{**r, "level": 3} for r in ROWS]), "b.parquet")
ds = load_dataset("parquet", data_files=["a.parquet", "b.parquet"], split="train")
""",
    ),
    "columns-differ-v5": job(
        "DAT013",
        "two JSON Lines files with different columns",
        "v5",
        HEAD
        + """
import json

for name, rows in (("a", ROWS), ("b", [{"problem": r["question"], "level": 3} for r in ROWS])):
    with open(f"{name}.jsonl", "w") as f:
        f.writelines(json.dumps(r) + "\\n" for r in rows)
ds = load_dataset("json", data_files=["a.jsonl", "b.jsonl"], split="train")
""",
    ),
    "struct-differs": job(
        "DAT014",
        "two parquet files whose extra_info has different fields",
        "v446",
        HEAD
        + """
pq.write_table(pa.Table.from_pylist(ROWS), "a.parquet")
pq.write_table(pa.Table.from_pylist([{**r, "extra_info": {"index": 1, "split": "train"}} for r in ROWS]), "b.parquet")
ds = load_dataset("parquet", data_files=["a.parquet", "b.parquet"], split="train")
""",
    ),
    "struct-differs-36": job(
        "DAT014",
        "two parquet files whose extra_info has different fields",
        "v457",
        HEAD
        + """
pq.write_table(pa.Table.from_pylist(ROWS), "a.parquet")
pq.write_table(pa.Table.from_pylist([{**r, "extra_info": {"idx": "7", "split": "train"}} for r in ROWS]), "b.parquet")
ds = load_dataset("parquet", data_files=["a.parquet", "b.parquet"], split="train")
""",
    ),
    "struct-differs-v5": job(
        "DAT014",
        "two parquet files, the answer a string in one and a list in the other",
        "v5",
        HEAD
        + """
pq.write_table(pa.Table.from_pylist(ROWS), "a.parquet")
pq.write_table(pa.Table.from_pylist([{**r, "answer": [r["answer"]]} for r in ROWS]), "b.parquet")
ds = load_dataset("parquet", data_files=["a.parquet", "b.parquet"], split="train")
""",
    ),
    "json-column-changes-type": job(
        "DAT017",
        "JSON Lines with a numeric answer in most rows and a string in one",
        "v457",
        HEAD
        + """
import json

with open("train.jsonl", "w") as f:
    for n, row in enumerate(ROWS):
        f.write(json.dumps({**row, "answer": "1/2" if n == 317 else n}) + "\\n")
ds = load_dataset("json", data_files="train.jsonl", split="train")
""",
    ),
    "json-line-cut-off": job(
        "DAT018",
        "JSON Lines whose writer was killed in the middle of a line",
        "v457",
        HEAD
        + """
import json

with open("train.jsonl", "w") as f:
    f.write("".join(json.dumps(row) + "\\n" for row in ROWS)[:20000])
    f.write("\\n" + json.dumps(ROWS[0]) + "\\n")
ds = load_dataset("json", data_files="train.jsonl", split="train")
""",
    ),
    "json-is-html": job(
        "DAT018",
        "a .jsonl file that is an error page saved by wget",
        "v5",
        HEAD
        + """
with open("train.jsonl", "w") as f:
    f.write("<html>\\n<head><title>502 Bad Gateway</title></head>\\n<body>\\n<center><h1>502 Bad Gateway</h1></center>\\n</body>\\n</html>\\n")
ds = load_dataset("json", data_files="train.jsonl", split="train")
""",
    ),
    "feature-type-list": job(
        "DAT020",
        "a parquet file written by datasets 5 with a list column, read by datasets 3.6",
        "v457",
        HEAD
        + """
ds = load_dataset("parquet", data_files="train.parquet", split="train")
log.info("dataset len: %d", len(ds))
""",
        run="""$v5/python -c "
from datasets import Dataset
rows = [{'prompt': [{'role': 'user', 'content': str(n)}], 'answer': str(n)} for n in range(100)]
Dataset.from_list(rows).to_parquet('train.parquet')" 2> /dev/null
python train.py""",
    ),
    "map-worker-killed": job(
        "DAT023",
        "one of two map processes is killed with SIGKILL (as the kernel does when memory runs out)",
        "v457",
        HEAD
        + """
import os, signal

def tokenize(row):
    if row["answer"] == "317":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"length": len(row["question"])}

ds = Dataset.from_list(ROWS).map(tokenize, num_proc=2, desc="Tokenizing")
""",
    ),
    "split-unknown": job(
        "DAT024",
        "split=validation of a dataset that has train and test",
        "v457",
        HEAD
        + """
files = {s: f"/home/user/data/gsm8k/{s}.parquet" for s in ("train", "test")}
train = load_dataset("parquet", data_files=files, split="train")
log.info("train %d", len(train))
val = load_dataset("parquet", data_files=files, split="validation")
""",
    ),
    "split-key": job(
        "DAT024",
        "load_dataset(...)['test'] of one file",
        "v5",
        HEAD
        + """
ds = load_dataset("parquet", data_files="/home/user/data/gsm8k/train.parquet")
log.info("splits %s", list(ds))
val = ds["test"]
""",
    ),
    "column-to-remove": job(
        "DAT025",
        "map with remove_columns of a column that is not there",
        "v457",
        HEAD
        + """
ds = Dataset.from_list(ROWS)
log.info("columns %s", ds.column_names)
ds = ds.map(lambda r: {"prompt": r["question"]}, remove_columns=["question", "solution"])
""",
    ),
    "column-missing-v5": job(
        "DAT025",
        "rename_column of a column that is not there",
        "v5",
        HEAD
        + """
ds = Dataset.from_list(ROWS)
log.info("columns %s", ds.column_names)
ds = ds.rename_column("problem", "question")
""",
    ),
    "to-parquet-dictionary": job(
        "DAT026",
        "to_parquet(use_dictionary=False) with datasets 5",
        "v5",
        HEAD
        + """
ds = Dataset.from_list(ROWS)
ds.to_parquet("train.parquet", compression="zstd", use_dictionary=False)
""",
    ),
    "cache-not-writable": job(
        "DAT027",
        "HF_HOME belongs to another user",
        "v457",
        HEAD
        + """
ds = load_dataset("parquet", data_files="/home/user/data/gsm8k/train.parquet", split="train")
log.info("rows %d", len(ds))
""",
        run="""mkdir -p /home/user/shared/huggingface/datasets
chown -R 1001:1001 /home/user/shared
export HF_HOME=/home/user/shared/huggingface
/usr/sbin/capsh --drop=cap_dac_override,cap_dac_read_search -- -c "python train.py\"""",
    ),
    "file-lock-no-locks": job(
        "DAT028",
        "flock answers ENOLCK, as a mount without a lock service does (a shim stands in for the mount)",
        "v457",
        HEAD
        + """
ds = load_dataset("parquet", data_files="/home/user/data/gsm8k/train.parquet", split="train")
log.info("rows %d", len(ds))
""",
        run=NO_LOCKS % "ENOLCK",
    ),
    "file-lock-not-supported": job(
        "DAT028",
        "flock answers ENOSYS, as some mounts do (a shim stands in for the mount), filelock 3.13",
        "v457",
        HEAD
        + """
ds = load_dataset("parquet", data_files="/home/user/data/gsm8k/train.parquet", split="train")
log.info("rows %d", len(ds))
""",
        run="export PYTHONPATH=$overlay/fl\n" + NO_LOCKS % "ENOSYS",
        libs="datasets 3.6.0, filelock 3.13.1, python 3.11",
    ),
    "batched-map-lengths": job(
        "DAT029",
        "a batched map that adds a column of fewer rows and keeps the old ones",
        "v457",
        HEAD
        + """
def pack(batch):
    text = " ".join(batch["question"])
    return {"packed": [text[i:i + 2048] for i in range(0, len(text), 2048)]}

ds = Dataset.from_list(ROWS).map(pack, batched=True, batch_size=100, desc="Packing")
""",
    ),
    "empty-jsonl": job(
        "DAT030",
        "an empty JSON Lines file",
        "v457",
        HEAD
        + """
open("train.jsonl", "w").close()
ds = load_dataset("json", data_files="train.jsonl", split="train")
""",
    ),
    "pandas-columns": job(
        "DAT031",
        "two column names of another data set",
        "v457",
        HEAD
        + """
import pandas as pd

df = pd.read_parquet("/home/user/data/gsm8k/train.parquet")
log.info("%d rows, columns %s", len(df), list(df.columns))
pairs = df[["question", "answer"]].to_dict("records")
""",
    ),
    "pandas-one-column": job(
        "DAT031",
        "one of two column names is wrong",
        "v446",
        HEAD
        + """
import pandas as pd

df = pd.read_parquet("/home/user/data/gsm8k/train.parquet")
log.info("%d rows, columns %s", len(df), list(df.columns))
pairs = df[["prompt", "response"]].to_dict("records")
""",
    ),
    "csv-malformed": job(
        "DAT032",
        "a CSV with an unquoted comma",
        "v457",
        HEAD
        + """
with open("train.csv", "w") as f:
    f.write("question,answer\\n")
    for n, row in enumerate(ROWS):
        f.write(f"{'Yes, no' if n == 317 else 'How many?'},{row['answer']}\\n")
ds = load_dataset("csv", data_files="train.csv", split="train")
""",
    ),
    "nested-chunked-parquet": job(
        "DAT033",
        "a row group with more than 2 GiB of text inside a list of structs",
        "v457",
        HEAD
        + """
text = "x" * (1 << 20)
prompt = pa.array([[{"role": "user", "content": text}]] * 300)
table = pa.table({"prompt": pa.chunked_array([prompt] * 8)})
log.info("rows %d", table.num_rows)
pq.write_table(table, "train.parquet", row_group_size=2400, use_dictionary=False, compression="zstd")
del table, prompt
ds = load_dataset("parquet", data_files="train.parquet", split="train")
log.info("dataset len: %d", len(ds))
""",
    ),
    "glob-new-fsspec": job(
        "DAT034",
        "datasets 2.13 with an fsspec of 2024 and later, a folder of parquet files",
        "v446",
        HEAD
        + """
ds = load_dataset("/home/user/data/gsm8k", split="train")
log.info("rows %d", len(ds))
""",
        run="PYTHONPATH=$overlay/ds213 python train.py",
        libs="datasets 2.13.1, fsspec of datasets 2.21.0, python 3.11",
    ),
}
