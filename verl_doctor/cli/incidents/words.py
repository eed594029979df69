"""Words of `verl-doctor incidents` in both languages."""

from __future__ import annotations

from ...model import Lang

WORDS: dict[str, tuple[str, str]] = {
    "number": ("#", "#"),
    "last seen": ("last seen", "最近出现"),
    "state": ("state", "状态"),
    "severity": ("severity", "级别"),
    "runs": ("runs", "任务数"),
    "what": ("what", "现象"),
    "in runs": ("in {runs} runs, printed {count} times", "{runs} 个任务，共 {count} 次"),
    "first": ("first seen", "首次出现"),
    "fix": ("resolved by", "解决办法"),
    "fingerprint": ("fingerprint", "指纹"),
    "run": ("run", "任务"),
    "ended": ("ended", "结果"),
    "in phase": ("{verdict}, in {phase}", "{verdict}，阶段 {phase}"),
    "at step": (", step {step}", "，第 {step} 步"),
    "cause": ("cause", "原因"),
    "sure": ("how sure", "把握"),
    "workers": ("workers", "进程"),
    "more": (" and {n} more", " 等另外 {n} 个"),
    "log": ("log", "日志"),
    "command": ("command", "命令"),
    "versions": ("versions", "版本"),
    "override": ("override", "配置"),
    "line": ("line {n}", "第 {n} 行"),
    "shown": ("{n} of {total} shown; all: --limit {total}", "共 {total} 条：--limit {total}"),
    "standing": ("{state}, {severity}, {counts}", "{state}，{severity}，{counts}"),
    "none so": (
        "no incident is in this state: {states}. All: verl-doctor incidents list",
        "没有处于该状态的记录：{states}。全部：verl-doctor incidents list",
    ),
    "nothing": ("no incidents recorded in {path}", "{path} 中没有记录"),
    "explain": ("Details: verl-doctor explain {rule}", "详情：verl-doctor explain {rule}"),
    "new": ("new", "新"),
    "acknowledged": ("acknowledged", "已确认"),
    "resolved": ("resolved", "已解决"),
    "regressed": ("regressed", "复发"),
    "muted": ("muted", "已静音"),
    "tags": ("tags", "标签"),
    "mute": ("muted because", "静音原因"),
    "mutes nothing": (
        "no mute holds here: neither in a config file nor in {path}",
        "没有静音：配置文件与 {path} 中均无",
    ),
    "fits": ("mutes {numbers}", "静音 {numbers}"),
    "unused": ("unused: nothing on record is this", "未使用：没有对应的记录"),
    "over": ("{reason} (over since {when})", "{reason}（已于 {when} 到期）"),
    "until": ("{reason} (until {when})", "{reason}（至 {when}）"),
    "woken": ("{reason} (over: time is up, or it grew)", "{reason}（已失效：到期或增多）"),
    "note": ("note", "备注"),
    "did_ack": ("#{number} acknowledged: ", "#{number} 已确认："),
    "did_resolve": ("#{number} resolved: ", "#{number} 已标记为解决："),
    "did_reopen": ("#{number} open again: ", "#{number} 已重新打开："),
    "did_mute": ("#{number} muted: ", "#{number} 已静音："),
    "did_unmute": ("#{number} no longer muted: ", "#{number} 已取消静音："),
    "did_tag": ("#{number} tagged: ", "#{number} 标签已更新："),
    "took in": (
        "new: {runs} runs, {incidents} incidents, {occurrences} times that one was seen",
        "新增：{runs} 个任务，{incidents} 个问题，{occurrences} 次出现",
    ),
    "purged": (
        "deleted: {runs} runs, {incidents} incidents",
        "已删除：{runs} 个任务，{incidents} 个问题",
    ),
    "purge?": (
        "Delete from {path} for good?",
        "从 {path} 中永久删除？",
    ),
    "no notes": ("no notes on #{number}", "#{number} 没有备注"),
    "no similar": ("nothing on record is like #{number}", "没有与 #{number} 相似的记录"),
    "not found": ("no incident has these words: {text}", "没有包含这些词的记录：{text}"),
    "alike": ("like", "相似"),
    "same rule": ("same rule", "同一规则"),
}  # fmt: skip


def word(name: str, lang: Lang, **values: object) -> str:
    """The word of that name, with its values put in. Errors: KeyError."""
    return WORDS[name][lang == "zh"].format(**values)
