"""Words of the text report in both languages."""

from __future__ import annotations

import time
from collections.abc import Mapping

from ..logs.text import visible
from ..model import Comparison, Fix, FixText, Lang, Seen

_LABELS: dict[str, tuple[str, str]] = {
    "line": ("line {n}", "第 {n} 行"),
    "worker": ("worker", "进程"),
    "count": ("printed", "出现"),
    "times": ("{n} times", "{n} 次"),
    "what": ("what", "现象"),
    "why": ("why", "原因"),
    "or": ("or else", "也可能"),
    "fix": ("fix", "修复"),
    "verify": ("It worked if:", "生效标志："),
    "see": ("see", "参考"),
    "chosen": ("chosen", "依据"),
    "news_alert": ("found", "发现"),
    "news_again": ("again", "再次出现"),
    "news_revised": ("the root is now", "根因修正为"),
    "news_cleared": (
        "cleared: the run went on after what was found",
        "解除：此前的问题之后任务仍在继续",
    ),
    "news_quiet": (
        "no output for {n} s, where a step takes {usual} s (last step {step}): hang, or very slow",
        "已 {n} 秒没有输出，而通常一步为 {usual} 秒（最后一步 {step}）：卡死或极慢",
    ),
    "news_resumed": ("output again after {n} s", "{n} 秒后恢复输出"),
    "status": (
        "verl-doctor: step {step}, {lines} lines, last output {n} s ago",
        "verl-doctor：第 {step} 步，{lines} 行，{n} 秒前有输出",
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
        "muted: {reason} (#{number}; it ended this run, so it is shown)",
        "已静音：{reason}（#{number}；它中止了本次任务，因此仍然显示）",
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
    "phase_unknown": ("unknown phase", "阶段未知"),
    "phase_launch": ("launch", "启动"),
    "phase_config": ("config", "配置"),
    "phase_data": ("data", "数据"),
    "phase_model_load": ("model load", "加载模型"),
    "phase_engine_init": ("engine start", "推理引擎启动"),
    "phase_rollout": ("rollout", "采样"),
    "phase_reward": ("reward", "奖励计算"),
    "phase_log_prob": ("log-prob", "对数概率计算"),
    "phase_update": ("update", "参数更新"),
    "phase_weight_sync": ("weight sync", "权重同步"),
    "phase_checkpoint": ("checkpoint", "检查点"),
    "phase_validation": ("validation", "验证"),
    "phase_training": ("training", "训练"),
    "phase_shutdown": ("shutdown", "退出"),
}


def pasted(fix: Fix | FixText) -> list[tuple[str, str]]:
    """What a fix has to be pasted, with the sign that marks it: `$` a command, `+` an override,
    `>` code."""
    parts = (("$", fix.run), ("+", fix.set), (">", fix.code))
    return [(sign, text) for sign, text in parts if text]


def remembered(seen: Seen, lang: Lang) -> list[str]:
    """What is known of a finding from other runs, as sentences; none if only this run showed it."""
    told = []
    if seen.times:
        day = time.strftime("%Y-%m-%d", time.localtime(seen.last_seen_at))
        key = "seen_once" if seen.times == 1 else "seen_times"
        text = label(key, lang, n=seen.times, run=visible(seen.last_run, 80), day=day)
        if seen.fix:
            text += label("seen_fixed", lang, fix=visible(seen.fix, 200))
        if seen.state in ("acknowledged", "regressed"):
            text += label("seen_state", lang, state=label(f"state_{seen.state}", lang))
        told.append(text)
    if seen.muted:
        reason = visible(seen.mute_reason, 200)
        told.append(label("muted", lang, reason=reason, number=seen.number))
    return told


def since(compared: Comparison, lang: Lang) -> str:
    """The heading over what the last good run did not print."""
    day = time.strftime("%Y-%m-%d", time.localtime(compared.ended_at))
    return label("new_since", lang, run=visible(compared.run, 80), day=day)


def label(key: str, lang: Lang, **values: object) -> str:
    """The word of that key. Errors: KeyError."""
    return filled(_LABELS[key][1 if lang == "zh" else 0], values)


def filled(text: str, values: Mapping[str, object]) -> str:
    """The text with `{name}` replaced by the value of that name; other braces stay."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", str(value))
    return text


def size_of(count: int) -> str:
    """A number of bytes in few characters: `812 B`, `4.2 MB`."""
    size = float(count)
    for unit in ("B", "KB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
