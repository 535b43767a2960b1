import type { Explained } from './explained';

/** What each rule says, and what breaks when it is off, in Chinese. */
export const RULES_ZH: Explained = {
  'durable-before-reply': {
    name: '先落盘，再回答',
    text: '消息要等它所依据的记录写到磁盘上才发出。关闭后：重启的节点会在同一任期投两次票。',
  },
  'one-vote-a-term': {
    name: '每个任期一票',
    text: '节点在一个任期里只投给一个候选者。关闭后：它会投给两个。',
  },
  'new-term-new-vote': {
    name: '新任期，新的一票',
    text: '任期升高后可以重新投票。关闭后：一次选举失败，就再也选不出领导者。',
  },
  'up-to-date-log': {
    name: '日志足够新',
    text: '只投给日志不比自己旧的候选者。关闭后：领导者会缺少已提交的条目。',
  },
  'majority-of-voters': {
    name: '多数投票者',
    text: '当选需要全体投票者的过半数。关闭后半数就够：同一任期会有两个领导者。',
  },
  'count-once': {
    name: '每人只计一次',
    text: '答复到达多少次，投票者也只计一次。关闭后：同一任期会有两个领导者。',
  },
  'own-term-grants': {
    name: '只计本任期的票',
    text: '投给先前任期、迟到的票不算数。关闭后：同一任期会有两个领导者。',
  },
  'validity-from-send': {
    name: '有效期从发送算起',
    text: '领导者从被确认的请求发出时算起。关闭后从收到答复算起：两个节点会同时自认领导者。',
  },
  'own-term-acks': {
    name: '只认本任期的答复',
    text: '只有对本任期的答复才能延长租约。关闭后：两个节点会同时自认领导者。',
  },
  'promise-binds-voter': {
    name: '承诺约束投票者',
    text: '刚听到领导者的节点一段时间内不投票。关闭后：两个节点会同时自认领导者。',
  },
  'promise-binds-candidate': {
    name: '承诺约束候选者',
    text: '刚听到领导者的节点一段时间内不参选。关闭后：两个节点会同时自认领导者。',
  },
  'promise-outlives-restart': {
    name: '承诺在重启后仍有效',
    text: '重启的节点先等承诺到期。关闭后：两个节点会同时自认领导者。',
  },
  'promise-outlives-term': {
    name: '承诺在新任期仍有效',
    text: '任期升高并不解除承诺。关闭后：两个节点会同时自认领导者。',
  },
  'refuse-without-adopting': {
    name: '拒绝，但不跟进任期',
    text: '受承诺约束的节点拒绝投票，任期不变。关闭后：一个任期很高的候选者就能赶下健康的领导者。',
  },
  'release-own-term': {
    name: '只解除本任期的承诺',
    text: '辞任者只能解除对自己任期的承诺。关闭后：两个节点会同时自认领导者。',
  },
  'lapse-deposes': {
    name: '到期即卸任',
    text: '到期的任职不再恢复。关闭后：过期的令牌会重新有效。',
  },
  'pre-vote': {
    name: '预投票',
    text: '参选前先用原任期问一遍。关闭后：回来的节点会赶下健康的领导者。',
  },
  'redraw-per-attempt': {
    name: '每次重新抽取超时',
    text: '每次参选都重新抽取超时。关闭后：抽到相同超时的两个节点会一直平分选票。',
  },
  'promise-from-answer': {
    name: '以答复里的承诺为准',
    text: '租约以投票者答应等待的时长为准。关闭后：各节点配置不同时，两个节点会同时自认领导者。',
  },
  'log-matching': {
    name: '日志匹配',
    text: '跟随者只接在自己已有的条目之后。关闭后：日志中间会出现差异。',
  },
  'commit-matched': {
    name: '只提交一致的部分',
    text: '跟随者只把确知与领导者一致的条目视为已提交。关闭后：各节点状态会不同。',
  },
  'ack-durable': {
    name: '落盘后才确认',
    text: '跟随者只确认已写到磁盘的条目。关闭后：崩溃会丢失已提交的条目。',
  },
  'own-copy-durable': {
    name: '自己的副本也一样',
    text: '领导者自己的副本写到磁盘后才计数。关闭后：崩溃会丢失已提交的条目。',
  },
  'commit-own-term': {
    name: '只提交本任期的条目',
    text: '靠计数只能提交本任期的条目（论文图 8）。关闭后：已提交的条目会被替换。',
  },
  'read-confirmed': {
    name: '读取要经确认',
    text: '读取要等在它之后问过的多数派答复。关闭后：旧领导者会读出旧值。',
  },
  'read-own-term': {
    name: '本任期提交后才读',
    text: '读取要等本任期有条目提交。关闭后：新领导者会读出旧值。',
  },
  'suffix-from-best': {
    name: '从最新的日志补齐',
    text: '候选者从多数派中最新的日志补上所缺的条目。关闭后：已提交的条目会被替换。',
  },
  'suffix-adopts-term': {
    name: '补齐时一并采用任期',
    text: '条目与它们的任期在一次写入里落盘。关闭后：重启时不接受这份日志。',
  },
  'suffix-rechecked': {
    name: '补齐前再核对',
    text: '条目到达时再核对提问、承诺和日志。关闭后：已确认的条目会丢失。',
  },
  'one-change-at-a-time': {
    name: '一次一个变更',
    text: '上一个成员变更提交后才开始下一个。关闭后：两组会各自作出决定。',
  },
  'joint-needs-both': {
    name: '联合配置需要两边',
    text: '变更期间的决定需要新旧两边各自的多数。关闭后：两组会各自作出决定。',
  },
  'change-after-own-term': {
    name: '本任期提交后才变更',
    text: '新领导者提交过条目后才能变更成员。关闭后：两组会各自作出决定。',
  },
  'transfer-when-caught-up': {
    name: '接任者先补齐日志',
    text: '领导者等接任者有了全部日志才移交。关闭后：健康的领导者离任，而谁也不接受下一个。',
  },
  'demote-by-timer': {
    name: '由时钟终止',
    text: '任职按自己的时钟到期，不等存储告知。关闭后要等存储告知：两个节点会同时自认领导者。',
  },
  nonce: {
    name: '认随机数，不认名字',
    text: '凭这次尝试的随机数认出自己的记录。关闭后：两个同名进程都以为自己持有。',
  },
  'compare-and-delete': {
    name: '比较后再删除',
    text: '记录还是自己的才释放它。关闭后：会删掉接任者的记录，让第三个节点拿到。',
  },
  'recheck-own-record': {
    name: '再看一眼自己的位置',
    text: '轮到自己时先确认自己的记录还在。关闭后：会话已结束的节点会与下一个同时领导。',
  },
  'own-clock-only': {
    name: '只用自己的时钟',
    text: '别人的记录从第一次看见起算满一个租约，不管它写着什么时间。关闭后：错误的时钟会夺走健康持有者的租约。',
  },
  'majority-of-configured': {
    name: '全部服务器的多数',
    text: '需要全部已配置服务器的过半数同意。关闭后只看有答复的：会有两个持有者。',
  },
  'outwait-former': {
    name: '等前任的信念到期',
    text: '接任者要等前任可能自认领导者的时间过去。关闭后：前任的会话已结束，它却还不知道。',
  },
  'proven-at-leader': {
    name: '由存储的领导者证明',
    text: '会话从存储的领导者得知时续期，由随后的写入证明。关闭后：服务器崩溃时，它答复过的心跳也随之消失。',
  },
};
