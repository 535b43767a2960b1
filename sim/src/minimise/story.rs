//! What a small scenario shows, in words.

use crate::check::Check;
use crate::export::{Recording, actions};
use crate::failure::Failure;
use crate::physics::trace::{Event, Kind};
use crate::report::millis;
use crate::scenario::{Scenario, node_name};
use crate::scheme::raft::code::{REQUEST_VOTE, VOTE_GRANTED};

/// The title of the scenario, in English and Chinese.
pub(super) fn title(scenario: &Scenario, failure: Failure) -> (String, String) {
    let (name, at) = (failure.check.name(), millis(failure.at));
    let off = scenario.rules_off();
    let (after, passed) = match scenario.faults.len() {
        0 => (String::new(), String::new()),
        1 => (" after 1 action".to_owned(), "经过 1 个操作，".to_owned()),
        many => (
            format!(" after {many} actions"),
            format!("经过 {many} 个操作，"),
        ),
    };
    let broken = chinese(failure.check);
    if off.is_empty() {
        return (
            format!("{name} breaks at {at}{after}"),
            format!("{passed}“{broken}”在 {at} 被打破"),
        );
    }
    (
        format!(
            "Without {}: {name} breaks at {at}{after}",
            off.join(" and ")
        ),
        format!("关闭 {}：{passed}“{broken}”在 {at} 被打破", off.join("、")),
    )
}

/// What breaks, when, by what, and how it shows.
pub(super) fn sentence(recording: &Recording, failure: Failure) -> String {
    let done = actions(recording);
    let count = match done.len() {
        1 => "1 action".to_owned(),
        many => format!("{many} actions"),
    };
    let mut said = format!(
        "{} breaks at {} after {count}",
        failure.check.name(),
        millis(failure.at)
    );
    if !done.is_empty() {
        said += ": ";
        said += &done.join("; ");
    }
    said.push('.');
    if let Some(shown) = shown(recording, failure) {
        said.push(' ');
        said += &shown;
    }
    said
}

/// The name of a check as the page has it in Chinese.
const fn chinese(check: Check) -> &'static str {
    match check {
        Check::OneLeaderPerTerm => "一个任期一个领导者",
        Check::OneVotePerTerm => "一个任期一票",
        Check::TokenRises => "令牌递增",
        Check::BelievedLeaders => "从无两个自认的领导者",
        Check::StaleWriteFenced => "有隔离时无过期写入",
        Check::StaleWriteUnfenced => "无隔离时无过期写入",
        Check::LeaderAgain => "重新有主",
        Check::NeverRevives => "过期不复生",
        Check::TokenHolder => "令牌由持有者出示",
        Check::LinearizableFenced => "有隔离时可线性化",
        Check::LinearizableUnfenced => "无隔离时可线性化",
        Check::LinearizableClient => "客户端所见可线性化",
        Check::JobsLost => "没有作业遗漏",
        Check::JobsTwiceFenced => "有隔离时作业不重复",
        Check::JobsTwiceUnfenced => "无隔离时作业不重复",
        Check::JobsConcurrent => "从无两个节点同做一个作业",
        Check::LogMatching => "日志相符",
        Check::LeaderCompleteness => "领导者拥有全部已提交条目",
        Check::StateMachineAgreement => "所有节点同一顺序",
        Check::CommittedIsDurable => "已提交即已落盘",
        Check::AcknowledgedSurvives => "已确认的不会消失",
        Check::TermsBurnt => "几乎没有白费的任期",
        Check::LinearizableStore => "存储可线性化",
        Check::CommitRises => "提交位置只进不退",
        Check::LocalReads => "本地读不会太旧",
        Check::IntersectingQuorums => "多数派必有交集",
        Check::WatchComplete => "监视不漏不重",
        Check::ControllerNoStaleWrite => "ZooKeeper 不收过期写入",
        Check::EpochOrder => "纪元只升不降",
        Check::PromiseBeforeAct => "承诺之后不为旧纪元做事",
        Check::LocalPrimaryOrder => "按主节点提议的顺序交付",
        Check::GlobalPrimaryOrder => "按纪元顺序交付",
        Check::PrimaryIntegrity => "主节点先交付前代再提议",
        Check::AckMeansDurable => "确认即已落盘",
        Check::LogContinuity => "日志没有空洞",
        Check::SentinelOneVote => "一个纪元一票",
        Check::SentinelEpochMonotone => "纪元只进不退",
        Check::SentinelOneLeader => "一个纪元一个当选哨兵",
        Check::SentinelConfigUnique => "一个配置纪元一个地址",
        Check::SentinelConfigMonotone => "配置只随更高纪元改变",
        Check::SentinelMajority => "提升须有多数哨兵的票",
        Check::SentinelConverges => "最终归于最高配置",
        Check::SentinelNoMinority => "少数派不做故障转移",
        Check::SentinelNoSelfReplication => "没有服务器复制自己",
        Check::SentinelRateLimited => "两次尝试隔开两个超时",
        Check::SentinelBestReplica => "提升最好的副本",
        Check::SentinelMasterStays => "健康的主服务器不被换掉",
        Check::SentinelNoAckLoss => "已确认的写入不丢",
        Check::SentinelSingleWritable => "只有一个可写的主服务器",
        Check::PreVoteQuiet => "预投票不留痕",
        Check::ResignedNoReuse => "重启的领导者不再续任",
        Check::ClaimAfterCatchUp => "追上才接管",
        Check::StaleLeaderStops => "被取代者按时停下",
        Check::KafkaFencedNeverLeads => "被隔离的代理从不领导",
        Check::KafkaLeaderInIsr => "分区领导者在 ISR 之中",
        Check::KafkaElrDisjoint => "ISR 与 ELR 不相交",
        Check::KafkaEpochMonotone => "分区纪元只进不退",
        Check::KafkaOneLeader => "分区一个纪元一个领导者",
        Check::KafkaCleanNoLoss => "干净选举不丢已提交",
        Check::KafkaNoStaleCommand => "代理只应用已提交的元数据",
        Check::KafkaHighWatermark => "高水位只进不退",
        Check::KafkaLogMatching => "分区日志相符",
        Check::KafkaInSyncAgain => "重新全部同步",
        Check::KafkaNoAckLoss => "已确认的记录不丢",
        Check::SentinelFailoverCompletes => "死去的主服务器被替换",
    }
}

/// What was seen when it broke.
fn shown(recording: &Recording, failure: Failure) -> Option<String> {
    let check = failure.check;
    let before = (recording.events.iter()).take_while(|event| event.at <= failure.at);
    let violation = before
        .clone()
        .find(|event| event.kind == Kind::Violation && event.a == check as i64)?;
    let node = node_name(violation.actor);
    match check {
        Check::OneLeaderPerTerm => {
            let last = before.filter(|event| event.kind == Kind::Elected).last()?;
            let others = elected(recording, last.term, failure.at);
            Some(format!("{} lead term {}.", others.join(" and "), last.term))
        }
        Check::OneVotePerTerm => {
            let (term, names) = votes(recording, violation, failure.at)?;
            Some(format!(
                "In term {term} {node} votes for {}.",
                names.join(" and for ")
            ))
        }
        Check::BelievedLeaders => {
            let beliefs = (recording.beliefs.iter())
                .filter(|belief| belief.from <= failure.at && failure.at <= belief.until);
            let believed: Vec<String> = beliefs
                .map(|belief| format!("{} by token {}", node_name(belief.node), belief.token))
                .collect();
            Some(format!("{} believe to lead.", believed.join(" and ")))
        }
        Check::LeaderAgain => Some("Until then nobody leads.".to_owned()),
        Check::TokenRises => Some(format!(
            "{node} has a token that is not above all before it."
        )),
        _ => None,
    }
}

/// Who was elected in a term.
fn elected(recording: &Recording, term: i64, until: u64) -> Vec<String> {
    let mut nodes: Vec<u16> = (recording.events.iter())
        .filter(|event| event.at <= until && event.kind == Kind::Elected && event.term == term)
        .map(|event| event.actor)
        .collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into_iter().map(node_name).collect()
}

/// The term in which the node of a violation voted twice, and for whom.
fn votes(recording: &Recording, violation: &Event, until: u64) -> Option<(i64, Vec<String>)> {
    let mut votes: Vec<(i64, u16)> = (recording.events.iter())
        .filter(|event| event.at <= until && event.kind == Kind::Send)
        .filter(|event| event.actor == violation.actor)
        .filter_map(|event| match event.a {
            // Who asks has voted for itself.
            REQUEST_VOTE => Some((event.term, event.actor)),
            VOTE_GRANTED => Some((event.term, u16::try_from(event.other).ok()?)),
            _ => None,
        })
        .collect();
    votes.sort_unstable();
    votes.dedup();
    let twice = votes.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
    let names = twice.iter().map(|(_, node)| node_name(*node)).collect();
    Some((twice[0].0, names))
}
