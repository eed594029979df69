"""Sentences that the engine itself says, in both languages. Rules bring their own."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import Lang, Text

WORDS: dict[str, Text] = {
    "unknown_cause": Text(
        "No rule knows this exception. It was raised at {raised}.",
        "没有规则认识这个异常。它在 {raised} 处抛出。",
    ),
    "unknown_cause_bare": Text(
        "No rule knows this exception, and its traceback is not in this log.",
        "没有规则认识这个异常，且日志中没有它的调用栈。",
    ),
    "unknown_fix": Text(
        "Start at {frame}: it is the innermost frame outside installed packages.",
        "从 {frame} 查起：这是最内层的非第三方库代码。",
    ),
    "unknown_fix_bare": Text(
        "Find the traceback of this exception in the log of the worker that raised it ({worker}).",
        "在抛出该异常的进程（{worker}）的日志中查找它的完整调用栈。",
    ),
    "driver": Text("the driver", "主进程"),
    "why_root": Text("earliest fault that can stop a run", "最早的、足以让任务中止的故障"),
    "why_only": Text("the only fault in the log", "日志中唯一的故障"),
    "why_unknown": Text(
        "no rule names a cause; this is the best unexplained exception",
        "没有规则给出原因；这是最值得看的未知异常",
    ),
    "why_symptom": Text(
        "only its effect is in this log: the cause lies elsewhere",
        "日志中只有它造成的结果：真正的原因在别处",
    ),
    "why_explained": Text("an effect of {other}", "由 {other} 引起"),
    "why_later": Text("later than the root cause (line {line})", "晚于根因（第 {line} 行）"),
    "why_recovered": Text("the run went on after it", "此后任务仍在继续"),
    "why_cascade": Text("only ever a consequence", "这类信息只会是后果"),
    "why_silence": Text(
        "the log stops here, without an end and without an error",
        "日志停在这里，既没有正常结束也没有报错",
    ),
    "why_advice": Text("worth knowing, did not stop the run", "值得注意，但没有中止任务"),
    "because_check": Text("on this machine: {value}", "本机：{value}"),
    "because_bundle": Text("on {where}: {value}", "{where}：{value}"),
    "because_capture": Text("the log says: {value}", "日志中为：{value}"),
    "because_absent": Text("the message tells no {name}", "日志中没有 {name}"),
    "because_no_frame": Text("no frame is {value}", "调用栈中没有 {value}"),
    "no_cause_fits": Text(
        "The log rules out each cause that this rule knows.",
        "该规则已知的各个原因都被日志排除。",
    ),
    "because_config": Text("{name} is {value}", "{name} 为 {value}"),
    "because_seen": Text("{rule} is in this log too", "日志中还有 {rule}"),
    "because_phase": Text("it happened in phase {value}", "发生在 {value} 阶段"),
    "because_frame": Text("the traceback passes {value}", "调用栈经过 {value}"),
    "healthy_range": Text(" Healthy: {range}.", "健康范围：{range}。"),
    "folded": Text(
        "Ray folded {n} repeated lines; evidence may be hidden. Rerun with RAY_DEDUP_LOGS=0.",
        "Ray 折叠了 {n} 行重复日志，可能隐藏了证据。请设置 RAY_DEDUP_LOGS=0 后重跑。",
    ),
    "fetch_worker": Text(
        "The decisive log is not here. Fetch the dead worker's own output on its node: "
        "/tmp/ray/session_latest/logs/worker-*{pid}.err and raylet.out, and `dmesg -T`.",
        "决定性的日志不在此文件中。请到对应节点查看："
        "/tmp/ray/session_latest/logs/worker-*{pid}.err、raylet.out，以及 `dmesg -T`。",
    ),
    "backwards": Text(
        "time runs backwards here (newest line first?), so first and last may be swapped: "
        "turn it round with `tac LOG | verl-doctor`",
        "时间是倒序的（最新的行在最前？），先后判断可能相反：请用 `tac LOG | verl-doctor` 反转",
    ),
    "rewound": Text(
        "Steps go back from {last} to {step} at line {line} (a resume or a restart): of steps "
        "printed twice the later ones count.",
        "第 {line} 行处步数从 {last} 退回到 {step}（恢复或重启）：重复打印的步以后一次为准。",
    ),
    "slow_rule": Text(
        "A rule's pattern ran out of time and was skipped: {n}",
        "有规则的正则超时，已跳过：{n}",
    ),
}

PHASES: dict[str, Text] = {
    "unknown": Text("unknown phase", "阶段未知"),
    "launch": Text("launch", "启动"),
    "config": Text("config", "配置"),
    "data": Text("data", "数据"),
    "model_load": Text("model load", "加载模型"),
    "engine_init": Text("engine start", "推理引擎启动"),
    "rollout": Text("rollout", "采样"),
    "reward": Text("reward", "奖励计算"),
    "log_prob": Text("log-prob", "对数概率计算"),
    "update": Text("update", "参数更新"),
    "weight_sync": Text("weight sync", "权重同步"),
    "checkpoint": Text("checkpoint", "检查点"),
    "validation": Text("validation", "验证"),
    "training": Text("training", "训练"),
    "shutdown": Text("shutdown", "退出"),
}
"""The phases of a run, as a person reads them."""


def say(key: str, lang: Lang, **values: object) -> str:
    """The sentence of that key with its values put in. Errors: KeyError."""
    return filled(WORDS[key].get(lang), values)


def filled(text: str, values: Mapping[str, object]) -> str:
    """The text with `{name}` replaced by the value of that name; other braces stay."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text
