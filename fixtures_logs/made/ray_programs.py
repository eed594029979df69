PROGRAMS = {
 "t": {"rule":"RAY063","how":"","run":"python train.py","files":{"train.py":"import ray,os\nray.init(num_cpus=1)\n@ray.remote\ndef f(): os.abort()\nprint(ray.get(f.options(max_retries=0).remote()))"}}
}
