import type { Refusals } from './refusals';

/**
 * What the engine refuses, in Chinese, by the code of the refusal. The engine itself speaks English; `{reason}` and
 * `{remedy}` stand for its own words where they hold what no table can know, `{list}` for the names it offers.
 */
export const REFUSALS_ZH: Refusals = {
  'after-end': { reason: '这个时刻在运行结束之后', remedy: '把它提前，或延长 duration' },
  'at-end': { reason: '运行已经结束，之后不会再发生任何事', remedy: '先回到较早的时刻' },
  'deadline-too-long': {
    reason: '持有者在没有续约时可以坚持的时间不短于租约（{reason}）',
    remedy: '缩短 lease.renewDeadline，或延长 lease.ttl',
  },
  'deadline-too-short': {
    reason: '持有者还没来得及再试一次就已停下（{reason}）',
    remedy: '延长 lease.renewDeadline，或缩短 lease.retry',
  },
  'bad-duration': { reason: '这不是时长', remedy: '写一个数和单位 us、ms、s、min、h 之一，例如 "150ms"' },
  'bad-percentage': { reason: '这不是百分比', remedy: '写 0 到 100 的数和 %，例如 "0.5%"' },
  'bad-seed': { reason: '这不是种子', remedy: '写一个小于 2^64 的整数' },
  'inexact-seed': { reason: '这个数太大，JavaScript 会悄悄改掉它', remedy: '把它写在引号里' },
  'empty-range': { reason: '范围的终点在起点之前', remedy: '先写较小的值' },
  'fifo-duplicates': {
    reason: '保持顺序的连接不会把一条消息送达两次',
    remedy: '把 duplicate 和 replay 设为 0%，或把 order 设为 "datagrams"',
  },
  impatient: {
    reason: '还没等到应答就放弃了请求（{reason}）',
    remedy: '延长 lease.patience，或缩短 lease.latency',
  },
  incomplete: {
    reason: '各组没有包含所有节点（以及存储的服务器）',
    remedy: '每个都写上一次，或在一组里写 "rest"',
  },
  'missing-field': { reason: '缺少必需的字段', remedy: '补上它（{remedy}）' },
  'named-twice': { reason: '同一个节点写了两次', remedy: '每个节点只写一次' },
  'needs-connections': {
    reason: '这个方案的节点通过连接通信，连接保持所说内容的顺序',
    remedy: '去掉 order，或把它设为 "fifo"',
  },
  'notification-range': { reason: '最长的等待比第一次还短（{reason}）', remedy: '把较长的等待写在后面' },
  'of-another-scheme': {
    reason: '这属于另一种方案，而不是本文件的方案',
    remedy: '去掉它，或换用那种方案（{remedy}）',
  },
  'fetch-timeout': {
    reason: '空闲的领导者答复得比跟随者愿意等的还晚（{reason}）',
    remedy: '把 kraft.fetchTimeout 调到大于 kraft.fetchMaxWait',
  },
  'needs-brokers': {
    reason: '这属于代理，而这里没有代理（{reason}）',
    remedy: '写上 brokers，或去掉它',
  },
  'too-few-brokers': {
    reason: '没有这么多代理：主题永远建不成',
    remedy: '减小 brokers.replicationFactor，或增大 brokers.count',
  },
  'too-few-in-sync': {
    reason: '分区没有这么多副本：永远不会有记录被确认',
    remedy: '减小 brokers.minInsyncReplicas，或增大 brokers.replicationFactor',
  },
  'lag-within-wait': {
    reason: '领导者还扣着跟随者的请求，就已把它算作落后',
    remedy: '把 brokers.replicaLagTimeMax 调到大于 brokers.replicaFetchWaitMax',
  },
  'request-timeout': {
    reason: '向空闲领导者的每次拉取都会被当作丢失（{reason}）',
    remedy: '把 kraft.requestTimeout 调到大于 kraft.fetchMaxWait',
  },
  'wait-too-long': { reason: '没有人会等这么久（{reason}）', remedy: '缩短 zab.tick，或减小其倍数' },
  'needs-store': {
    reason: '只有依靠存储的选举才有这一项',
    remedy: '去掉它，或换成依靠存储的方案，例如 "etcd"',
  },
  'no-action': { reason: '没有写明动作', remedy: '补上一个，例如 "crash": "leader"' },
  'no-deadline': {
    reason: '这种方案的持有者除租约到期外没有别的期限',
    remedy: '去掉 renewDeadline，或使用方案 kubernetes',
  },
  'no-link': { reason: '节点与自己之间没有链路', remedy: '写两个不同的节点' },
  'no-log': { reason: '成员变更要写成日志条目，而这里没有日志', remedy: '把 raft.log 设为 true' },
  'no-rule': {
    reason: '这种方案不依靠这条规则：有没有它都一样',
    remedy: '去掉它，或换成它有的规则（{remedy}）',
  },
  'no-slack': {
    reason: '租约太短，来不及续租、再试一次并等到应答（{reason}）',
    remedy: '延长 lease.ttl，或缩短 lease.margin、lease.renew、lease.retry 或 lease.latency',
  },
  'no-version': { reason: '缺少格式的版本', remedy: '补上 "tenure": 1' },
  'no-voters': { reason: '没有投票者就无法作出任何决定', remedy: '至少写一个节点' },
  'no-watches': {
    reason: '没有日志就没有可监视的存储；本页的引擎也不运行监视的客户端',
    remedy: '用 tenure-sim 运行，并把 raft.log 设为 true；或去掉 client.watches',
  },
  'nobody-votes': {
    reason: '只有在有日志、且另有节点在组内时，才能有节点在组外',
    remedy: '把 raft.log 设为 true，并让 raft.outside 小于节点数',
  },
  'not-seconds': { reason: '这种存储的租约以整秒计', remedy: '把 lease.ttl 进位到整秒' },
  'not-with-store': {
    reason: '依靠存储的选举没有这一项：它的节点没有日志、磁盘和投票',
    remedy: '去掉它，或使用方案 raft',
  },
  'node-count': { reason: '无法运行这么多节点', remedy: '减少节点数（{remedy}）' },
  'one-server': {
    reason: '这种方案的存储只有一台服务器',
    remedy: '去掉 servers，或使用方案 redlock、etcd、zookeeper 或 zookeeper-controller',
  },
  'cluster-size': {
    reason: '这种方案的存储是一台服务器，或是几台组成的集群，须由多数同意',
    remedy: '写 1、3 或 5',
  },
  'other-scheme': {
    reason: '这个系统用的是另一种方案',
    remedy: '去掉 preset，或换成它所用的方案（{remedy}）',
  },
  'quorum-beyond-nodes': {
    reason: '没有这么多哨兵来认定主服务器下线',
    remedy: '把 sentinel.quorum 设为不超过节点数',
  },
  'too-few-replicas': {
    reason: '没有哪个主服务器有这么多副本，它永远不会接受写入',
    remedy: '减小 sentinel.minReplicasToWrite，或增大 sentinel.replicas',
  },
  syntax: { reason: '不是有效的 JSON', remedy: '改成有效的 JSON' },
  'too-large': { reason: '这个值太大', remedy: '写得小一些（{remedy}）' },
  'too-many': { reason: '数量太多，无法运行', remedy: '减少一些（{remedy}）' },
  'too-many-writes': {
    reason: '同时在途的写入太多，无法容纳',
    remedy: '缩短 client.think 或 client.writeDelay，或延长 client.every',
  },
  'too-much': {
    reason: '这么长的运行、这么多的节点和写入，无法全部记录',
    remedy: '缩短运行，或延长心跳间隔或 client.every',
  },
  'too-many-nodes': {
    reason: '时间旅行要保存许多份世界的副本，节点太多就放不下',
    remedy: '这里最多用 200 个节点；命令 tenure-sim run FILE 不保存副本，可以照原样运行',
  },
  'too-small': { reason: '这个值太小', remedy: '写得大一些（{remedy}）' },
  'two-actions': { reason: '一条故障里有多个动作', remedy: '每个动作单独写一条' },
  'unknown-field': { reason: '不认识这个字段', remedy: '可用的有 {list}' },
  'unknown-name': { reason: '不认识这个名称', remedy: '可用的有 {list}' },
  'unknown-node': { reason: '没有这个节点', remedy: '写现有的节点（{remedy}）' },
  version: { reason: '不认识这个版本', remedy: '使用本页能读取的版本（{remedy}）' },
  'election-range': { reason: '选举超时的上限不大于下限', remedy: '让上限大于下限' },
  'heartbeat-too-slow': {
    reason: '心跳间隔超过最短选举超时的一半，丢一次心跳就会引发选举',
    remedy: '缩短 raft.heartbeat，或延长 raft.electionTimeout',
  },
  'lease-too-short': {
    reason: '扣除时钟误差后，租约短于两个心跳间隔',
    remedy: '降低 raft.rateBound 或 raft.heartbeat，或延长 raft.electionTimeout',
  },
  'rate-bound': { reason: '这样的时钟误差上限毫无约束', remedy: '写小于 100% 的值' },
  'timeout-too-long': { reason: '选举超时太长', remedy: '最多写一小时' },
  'wrong-length': { reason: '这里应当是两个值', remedy: '写成两个值的列表' },
  'wrong-type': { reason: '这里的类型不对', remedy: '换成应有的类型（{remedy}）' },
};
