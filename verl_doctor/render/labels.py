"""Words of the text report in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from ..model import Fix, FixText, Lang

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
