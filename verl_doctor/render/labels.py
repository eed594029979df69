"""Words of the text report in both languages."""

from __future__ import annotations

from ..diagnose.words import PHASES, filled
from ..logs.text import visible
from ..model import Comparison, Finding, Fix, FixText, Lang, Seen
from ..quantities import day

_LABELS: dict[str, tuple[str, str]] = {
    "line": ("line {n}", "第 {n} 行"),
    "worker": ("worker", "进程"),
    "count": ("printed", "出现"),
    "times": ("{n} times", "{n} 次"),
    "what": ("what", "现象"),
    "why": ("why", "原因"),
    "or": ("or else", "也可能"),
    "fix": ("fix", "修复"),
    "probe": ("check", "检查"),
    "ruled_out": ("ruled out", "已排除"),
    "probe_text": (
        "on the machine of the run this would tell the causes apart ({names}); from elsewhere, "
        "`verl-doctor check {of} --save FILE` there and `--bundle FILE` here",
        "在训练机器上运行以下命令可区分以上原因（{names}）；若日志在别处，先在训练机器上运行 "
        "`verl-doctor check {of} --save FILE`，再在此处加 `--bundle FILE`",
    ),
    "verify": ("It worked if:", "生效标志："),
    "see": ("see", "参考"),
    "chosen": ("chosen", "依据"),
    "news_alert": ("found", "发现"),
    "news_again": ("again", "再次出现"),
    "news_revised": ("revised: the root is now", "修正：根因现为"),
    "news_finding": ("{kind} {name} ({where}): {title}", "{kind} {name}（{where}）：{title}"),
    "news_times": (", {n} times so far", "，至今 {n} 次"),
    "news_fix": ("fix: {text}", "修复：{text}"),
    "news_cleared": (
        "cleared: the run went on after what was found",
        "解除：此前的问题之后任务仍在继续",
    ),
    "news_stopped": ("output stopped: nothing for {n}", "输出停止：已 {n} 没有任何输出"),
    "news_no_step": ("output goes on, but no step for {n}", "仍有输出，但已 {n} 没有完成新的一步"),
    "news_slow": ("slow: step {step} took {n}", "变慢：第 {step} 步用时 {n}"),
    "news_usual": (", usually {usual}", "，通常为 {usual}"),
    "news_where": (" (phase {phase}, last step {step})", "（阶段：{phase}，最后一步：{step}）"),
    "news_resumed": ("output again after {n}", "{n} 后恢复输出"),
    "news_ended": ("verl-doctor: {log} has ended", "verl-doctor：{log} 已结束"),
    "none": ("none", "无"),
    "follow_awaited": (
        "{path} does not exist yet: waiting for it (Ctrl-C ends)",
        "{path} 尚不存在，等待其出现（Ctrl-C 结束）",
    ),
    "stacks_still": (
        "Two looks {n} apart at the processes: nothing moved. Innermost frame first:",
        "相隔 {n} 的两次采样：进程没有任何移动。最内层栈帧在前：",
    ),
    "stacks_move": (
        "Two looks {n} apart at the processes: they move, so it is slow rather than hung:",
        "相隔 {n} 的两次采样：进程仍在移动，更可能是慢而不是卡死：",
    ),
    "stack_of": ("process {pids} ({n}):", "进程 {pids}（{n} 个）："),
    "stacks_more": ("  and {n} more stacks", "  以及另外 {n} 种调用栈"),
    "stacks_unseen": (
        "  {n} processes are no Python, or could not be looked at",
        "  {n} 个进程不是 Python 或无法查看",
    ),
    "frames_more": ("    and {n} more frames", "    以及另外 {n} 层"),
    "waits_collective": (" waits in a collective", " 在集合通信中等待"),
    "waits_dataloader": (" waits for a DataLoader worker", " 在等待 DataLoader worker"),
    "waits_ray": (" waits for Ray", " 在等待 Ray"),
    "waits_join": (" waits for a child process", " 在等待子进程"),
    "waits_idle": (" is a helper without work", " 是空闲的辅助进程"),
    "obstacle_no_pyspy": (
        "No stacks: py-spy is not installed (pip install 'verl-doctor[stacks]').",
        "无法获取调用栈：未安装 py-spy（pip install 'verl-doctor[stacks]'）。",
    ),
    "obstacle_no_python": (
        "No stacks: none of the processes is a Python that py-spy knows.",
        "无法获取调用栈：没有 py-spy 能识别的 Python 进程。",
    ),
    "obstacle_gone": ("No stacks: the process is gone.", "无法获取调用栈：进程已退出。"),
    "obstacle_ptrace_scope": (
        "No stacks: kernel.yama.ptrace_scope lets only a parent look into a process. "
        "As root: sysctl kernel.yama.ptrace_scope=0, or start the doctor as root.",
        "无法获取调用栈：kernel.yama.ptrace_scope 只允许父进程查看。"
        "请以 root 执行 sysctl kernel.yama.ptrace_scope=0，或以 root 运行。",
    ),
    "obstacle_capability": (
        "No stacks: this container lacks CAP_SYS_PTRACE. Docker: --cap-add=SYS_PTRACE; "
        "Kubernetes: securityContext.capabilities.add: [SYS_PTRACE].",
        "无法获取调用栈：容器缺少 CAP_SYS_PTRACE。Docker：--cap-add=SYS_PTRACE；"
        "Kubernetes：securityContext.capabilities.add: [SYS_PTRACE]。",
    ),
    "obstacle_user": (
        "No stacks: the processes belong to another user, or a security policy forbids to look.",
        "无法获取调用栈：进程属于其他用户，或被安全策略禁止。",
    ),
    "other_stacks": (
        "Other ways, without that right: `ray stack` on the node (as the user of Ray); "
        "faulthandler.register(signal.SIGUSR1) in the program, then kill -USR1 PID.",
        "不需要该权限的办法：在节点上（以 Ray 的用户）执行 `ray stack`；"
        "或在程序中调用 faulthandler.register(signal.SIGUSR1)，再 kill -USR1 PID。",
    ),
    "run_ended": (
        "the command ended with exit status {status} after {n}",
        "命令已结束，退出码 {status}，用时 {n}",
    ),
    "run_signal": (
        "the command was ended by {signal} after {n} (exit status {status})",
        "命令被 {signal} 终止，用时 {n}（退出码 {status}）",
    ),
    "run_137": (
        "exit status {status} is SIGKILL; who sent it is not known (kernel's OOM killer: dmesg -T, "
        "scheduler, container limit, kill -9)",
        "退出码 {status} 即 SIGKILL；发送者未知"
        "（内核 OOM killer：dmesg -T、调度器、容器限制或 kill -9）",
    ),
    "run_leftover": (
        "other processes of the run are still alive and hold its output; they are left alone",
        "该任务仍有其他进程存活并占用输出，未做处理",
    ),
    "run_log": ("log: {path}", "日志：{path}"),
    "run_log_moved": ("{path} existed: it is now {moved}", "{path} 已存在，改名为 {moved}"),
    "run_no_copy": (
        "the copy of the output ends early ({why}); the run itself lost nothing",
        "输出副本提前中断（{why}）；任务自身的输出没有丢失",
    ),
    "run_doctor_failed": (
        "the doctor itself failed ({why}); the run was not touched by it",
        "verl-doctor 自身出错（{why}）；任务不受影响",
    ),
    "run_behind": (
        "the doctor could not read the whole output in time; use --log FILE and verl-doctor FILE",
        "未能及时读完全部输出；请用 --log FILE 保存后再执行 verl-doctor FILE",
    ),
    "status": (
        "verl-doctor: {lines} lines, last step {step}, last output {n} ago",
        "verl-doctor：{lines} 行，最后一步：{step}，最近输出：{n} 前",
    ),
    "curve": ("curve", "曲线"),
    "curve_told": (
        "{metric}: first bad step {step}, min {low}, max {high}, now {last}",
        "{metric}：首个异常步 {step}，最小 {low}，最大 {high}，当前 {last}",
    ),
    "curve_healthy": ("; healthy {range}", "；健康范围 {range}"),
    "curve_bad": ("first bad step {step}", "首个异常步 {step}"),
    "story": ("story", "经过"),
    "story_step": ("step {n}", "第 {n} 步"),
    "checkpoint": ("checkpoint", "检查点"),
    "checkpoint_is": (
        "{name} ({where}) is the last one from before the trouble",
        "出现问题之前的最后一个为 {name}（{where}）",
    ),
    "checkpoint_none": (
        "the log tells of none from before step {step}",
        "日志中没有第 {step} 步之前的检查点",
    ),
    "plot_none": (
        "no metric is at fault: nothing to plot",
        "没有异常指标，无图可画",
    ),
    "versions": ("applies to", "适用版本"),
    "signature": ("matches", "匹配"),
    "likely_high": ("likely", "很可能"),
    "likely_medium": ("possible", "可能"),
    "likely_low": ("rare", "少见"),
    "not": ("not this", "误报"),
    "causes": ("causes", "会引起"),
    "printed_by": ("printed by", "输出自"),
    "note": ("note", "提示"),
    "unexplained": ("unexplained", "未识别"),
    "worked": ("[worked here before]", "[此前在本机有效]"),
    "before": ("before", "以往"),
    "seen_once": ("seen once, in run {run} ({day})", "出现过 1 次：任务 {run}（{day}）"),
    "seen_times": (
        "seen {n} times, last in run {run} ({day})",
        "出现过 {n} 次，最近一次：任务 {run}（{day}）",
    ),
    "seen_fixed": ("; what fixed it was: {fix}", "；当时的解决办法：{fix}"),
    "seen_state": ("; {state}", "；{state}"),
    "state_acknowledged": ("acknowledged", "已确认"),
    "state_regressed": ("it has come back since", "此后又复发"),
    "seen_short": (", seen {n}x before", "，以往 {n} 次"),
    "muted": (
        "muted: {reason} ({by}; it ended this run, so it is shown)",
        "已静音：{reason}（{by}；它中止了本次任务，因此仍然显示）",
    ),
    "new_since": (
        "New since the last good run, {run} ({day})",
        "与上一次正常任务 {run}（{day}）相比，新出现的信息",
    ),
    "new_more": ("and {n} more", "以及另外 {n} 条"),
    "issue_system": ("System Info", "环境信息"),
    "issue_reproduction": ("Reproduction", "复现方式"),
    "issue_happened": ("What happened", "现象"),
    "issue_why": ("Why, as far as the log tells", "原因（据日志判断）"),
    "issue_chain": ("What followed or stood beside it", "连带与其他问题"),
    "issue_tried": ("What was tried", "已尝试的办法"),
    "issue_expected": ("Expected behavior", "期望结果"),
    "issue_hardware": ("hardware", "硬件"),
    "issue_verdict": ("verdict", "结论"),
    "issue_phase": ("phase", "阶段"),
    "issue_started": ("first line at", "首行时间"),
    "issue_ended": ("last line at", "末行时间"),
    "issue_last": ("last line", "末行"),
    "issue_rule": ("rule", "规则"),
    "issue_sure": ("how sure", "把握"),
    "issue_note": ("note", "备注"),
    "issue_proposed": ("proposed by verl-doctor", "verl-doctor 的建议"),
    "issue_system_hint": (
        "As far as the log tells. Please add the output of python scripts/diagnose.py, and whether "
        "this is an official example script or a modified one.",
        "以上仅来自日志。请补充 python scripts/diagnose.py 的输出，"
        "并说明用的是官方示例脚本还是自己修改过的。",
    ),
    "issue_no_command": (
        "The log shows no command. Please add the command with its overrides.",
        "日志中没有启动命令，请补充完整的命令与覆盖项。",
    ),
    "issue_tried_hint": (
        "Please say what you have tried of this, and what came of it.",
        "请说明其中哪些已经试过，结果如何。",
    ),
    "issue_expected_hint": (
        "Please say what you expected instead.",
        "请说明期望的结果。",
    ),
    "risk": ("[risk: {how}]", "[风险：{how}]"),
    "risk_medium": ("medium", "中"),
    "risk_high": ("high", "高"),
    "others": ("Also in this log", "日志中的其他问题"),
    "folded_findings": (
        "consequences folded: {n} (--all shows them)",
        "另有 {n} 条连带信息已折叠（用 --all 查看）",
    ),
    "hidden": ("Left out:", "未展示："),
    "hidden_folded": ("{n} lines folded by Ray", "Ray 折叠的 {n} 行"),
    "hidden_quoted": ("{n} inside model output", "模型输出中的 {n} 处"),
    "hidden_context": ("{n} harmless messages", "{n} 条无害信息"),
    "hidden_muted": ("{n} muted", "{n} 条已静音"),
    "hidden_more": ("{n} further findings", "另外 {n} 条发现"),
    "hidden_teardown": ("{n} shutdown messages", "{n} 条退出信息"),
    "size": ("{lines} lines, {size}", "{lines} 行，{size}"),
    "truncated": ("(not read to its end)", "（未读完）"),
    "more_sources": ("and {n} more files", "以及另外 {n} 个文件"),
    "at_step": (", step {n}", "，第 {n} 步"),
    "sure": ("how sure: {how}", "把握：{how}"),
    "sure_high": ("high", "高"),
    "sure_medium": ("medium, check the cause first", "中，请先核实原因"),
    "sure_low": ("low, treat it as a lead", "低，仅作线索"),
    "unknown_tail": (
        "nothing in the log can have ended the run; it stops in: {where}",
        "日志中没有足以让任务中止的故障；日志停在：{where}",
    ),
    "healthy_tail": (
        "no fault that can stop a run; last seen: {where}",
        "没有发现会中止任务的故障；最后位置：{where}",
    ),
    "verdict_failed": ("FAILED", "失败"),
    "verdict_hung": ("HUNG", "卡住"),
    "verdict_degraded": ("DEGRADED", "训练异常"),
    "verdict_interrupted": ("INTERRUPTED", "被中断"),
    "verdict_healthy": ("HEALTHY", "正常"),
    "verdict_unknown": ("UNKNOWN", "未知"),
    "severity_critical": ("critical", "致命"),
    "severity_high": ("high", "严重"),
    "severity_medium": ("medium", "中等"),
    "severity_low": ("low", "轻微"),
    "severity_info": ("info", "提示"),
    "role_root": ("root   ", "根因"),
    "role_symptom": ("symptom", "症状"),
    "role_cascade": ("cascade", "连带"),
    "role_teardown": ("exit   ", "退出"),
    "role_context": ("context", "背景"),
    "role_advice": ("advice ", "建议"),
    **{f"phase_{name}": (text.en, text.zh) for name, text in PHASES.items()},
}


def pasted(fix: Fix | FixText) -> list[tuple[str, str]]:
    """What a fix has to be pasted, with the sign that marks it: `$` a command, `+` an override,
    `>` code."""
    parts = (("$", fix.run), ("+", fix.set), (">", fix.code))
    return [(sign, text) for sign, text in parts if text]


def remembered(finding: Finding, lang: Lang) -> list[str]:
    """What is known of a finding beside its log, as sentences: other runs that showed it, what
    fixed it, who wants it quiet; none if nothing is."""
    told = _seen(finding.history, lang) if finding.history is not None else []
    if finding.muted is not None:
        told.append(label("muted", lang, reason=finding.muted.reason, by=finding.muted.by))
    return told


def _seen(seen: Seen, lang: Lang) -> list[str]:
    told = []
    if seen.times:
        key = "seen_once" if seen.times == 1 else "seen_times"
        last = visible(seen.last_run, 80)
        text = label(key, lang, n=seen.times, run=last, day=day(seen.last_seen_at))
        if seen.fix:
            text += label("seen_fixed", lang, fix=visible(seen.fix, 200))
        if seen.state in ("acknowledged", "regressed"):
            text += label("seen_state", lang, state=label(f"state_{seen.state}", lang))
        told.append(text)
    if seen.muted:
        reason = visible(seen.mute_reason, 200)
        told.append(label("muted", lang, reason=reason, by=f"#{seen.number}"))
    return told


def since(compared: Comparison, lang: Lang) -> str:
    """The heading over what the last good run did not print."""
    return label("new_since", lang, run=visible(compared.run, 80), day=day(compared.ended_at))


def duration(seconds: float) -> str:
    """A time span to read at a glance in either language: `8 s`, `12:40 min`, `2:05:00 h`."""
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02} h"


def label(key: str, lang: Lang, **values: object) -> str:
    """The word of that key. Errors: KeyError."""
    return filled(_LABELS[key][1 if lang == "zh" else 0], values)
