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
  'guarded-writes': {
    name: '写入带检查',
    text: '控制器每次写入都在同一事务中检查自己的纪元。关闭后：被取代者尚未写完的，ZooKeeper 照收。',
  },
  'own-session': {
    name: '凭会话认节点',
    text: '临时节点属于哪个会话，就是谁的。关闭后只看其中的名字：重启的节点把前世留下的节点当成自己当选。',
  },
  'epoch-in-order': {
    name: '先比纪元',
    text: '选票依次比较纪元、日志和编号。关闭后：两张选票会互相胜过对方，选举原地打转。',
  },
  'check-leader': {
    name: '领导者自己说了才算',
    text: '领导者没有亲口说自己在领导，就不跟随它。关闭后：崩溃的领导者会被一再选中。',
  },
  'own-round': {
    name: '只认自己的轮次',
    text: '节点只凭自己这一轮的选票领导。关闭后：关于旧轮次的答复会让它当选。',
  },
  'established-epoch': {
    name: '以已确立的纪元答复',
    text: '同步之后，大家都以已确立的纪元作答。关闭后：新来者听到的答复各不相同，加入不了。',
  },
  'voters-only': {
    name: '只数投票者',
    text: '任何计数都不算观察者。关闭后：一个领导者凭几个观察者就能开始纪元。',
  },
  'accepted-durable': {
    name: '承诺先落盘',
    text: '纪元先落盘，再告知或承诺。关闭后：崩溃过的领导者会再次开始同一个纪元。',
  },
  'refuse-older-epoch': {
    name: '不回到旧纪元',
    text: '承诺了某个纪元就不再跟随更早纪元的领导者。关闭后：它会确认自己已经放弃的内容。',
  },
  'promise-once': {
    name: '承诺只算一次',
    text: '已经承诺过这个纪元的节点如实告知，不再计入。关闭后：两个领导者会开始同一个纪元。',
  },
  'most-recent-leads': {
    name: '历史最新者领导',
    text: '领导者拒绝历史比自己更新的节点。关闭后：它会覆盖已确认的内容。',
  },
  'epoch-after-history': {
    name: '历史在先，纪元在后',
    text: '先写下历史，再写下它所代表的当前纪元。关闭后：内容更少的节点会被当成更新的。',
  },
  'history-synced': {
    name: '历史先同步到磁盘',
    text: '历史同步到磁盘之后才确认 NEWLEADER。关闭后：断电会让它丢失。',
  },
  'own-acks': {
    name: '各算各的确认',
    text: '每个条目凭自己的确认提交。关闭后：已提交的内容所在的磁盘太少。',
  },
  'history-before-new-leader': {
    name: '历史先于 NEWLEADER',
    text: 'NEWLEADER 在它所收尾的历史之后发出。关闭后：没有历史也会确认它。',
  },
  'snap-across-epochs': {
    name: '跨纪元就用快照',
    text: '有领导者不认识的条目的节点得到快照。关闭后只截去末尾：下面还留着别的纪元的条目。',
  },
  'reload-after-sync': {
    name: '重读磁盘',
    text: '同步中断之后从磁盘重读内存。关闭后：条目会接在磁盘上没有的条目之后。',
  },
  'cut-or-exit': {
    name: '截断失败就停',
    text: '截不掉日志的节点停下。关闭后：本该消失的内容下次启动又会回来。',
  },
  'whole-log-elects': {
    name: '以完整日志参选',
    text: '节点以日志里的全部内容参选。关闭后只报已提交的部分：没报的内容会留在下面。',
  },
  'keep-buffered': {
    name: '保留提前到的',
    text: 'UPTODATE 之前收到的内容留着，随它一起记录。关闭后：永远不会记录。',
  },
  continuous: {
    name: '提议不间断',
    text: '提议一个接一个，中间不缺。关闭后：条目会落在与别处不同的位置。',
  },
  'packets-in-order': {
    name: '按发送顺序',
    text: '连接上的消息按发送顺序处理。关闭后：链路丢了什么也不会察觉。',
  },
  'step-down-at-wrap': {
    name: '编号用尽就卸任',
    text: '纪元的编号用完，领导者就卸任。关闭后：下一个纪元的名字会发两次。',
  },
  'deliver-established': {
    name: '确立之后才交付',
    text: '纪元确立之后才交付它的历史。关闭后：没能确立的内容也会交付。',
  },
  'quorum-or-step-down': {
    name: '没有多数就卸任',
    text: '听不到多数的领导者卸任。关闭后：被隔开的领导者会一直领导下去。',
  },
  'sync-by-quorum': {
    name: 'sync 要问多数',
    text: 'sync 要等仍在跟随的多数。关闭后（ZooKeeper 实际如此）：已被取代的领导者也会答复，读到旧值。',
  },
  'vote-durable': {
    name: '选票先落盘',
    text: '选票写进文件之后才告知、才计入。关闭后：重启的哨兵会在一个纪元里投两次。',
  },
  'one-vote-an-epoch': {
    name: '一个纪元一票',
    text: '投票者每个纪元只有一票。关闭后：它会投给两个。',
  },
  'failover-epoch': {
    name: '以本次转移的纪元为准',
    text: '要票和计票都用这次故障转移的纪元。关闭后（Redis 实际如此）：两个纪元的票相加，两个哨兵在同一纪元行动（redis#2230）。',
  },
  'own-masters-epoch': {
    name: '各看各的主服务器',
    text: '能不能投票只看那个主服务器的纪元。关闭后（Redis 实际如此）：几个主服务器同时失效时会互相妨碍。',
  },
  'all-known-voters': {
    name: '全部已知哨兵的多数',
    text: '多数按全部已知的哨兵算。关闭后只算有答复的：少数派也能选举。',
  },
  'majority-besides-quorum': {
    name: '除法定人数外还要多数',
    text: '不论法定人数是多少，当选都要多数。关闭后：少数派也能选举。',
  },
  'wait-after-vote': {
    name: '投票后等待',
    text: '投票给别人之后等两个故障转移超时。关闭后：一次尝试还没结束，下一次又来了。',
  },
  'wait-after-attempt': {
    name: '尝试后等待',
    text: '两次尝试之间隔两个故障转移超时。关闭后：一次尝试还没结束，下一次又来了。',
  },
  'config-epoch-rises': {
    name: '只认更晚的配置',
    text: '主服务器只随更晚纪元的配置改变。关闭后：随便一条 hello 都能撤销故障转移。',
  },
  'overtaken-gives-up': {
    name: '被超过就放弃',
    text: '听到更晚的配置就放弃自己更早的故障转移。关闭后（Redis 实际如此）：配置纪元会倒退。',
  },
  'rewrite-names-promoted': {
    name: '文件写明新主',
    text: '从提升起，文件就写明新的主服务器。关闭后：重启之后，新主会被命令复制自己。',
  },
  'seed-mixed-with-node': {
    name: '各有各的随机数',
    text: '随机数里混入地址（redis#10197）。关闭后：同样起步的哨兵总是同时参选，谁也选不上。',
  },
  'rank-by-offset': {
    name: '数据多者先',
    text: '优先级相同的副本里提升数据最多的。关闭后：丢失的写入比必要的更多。',
  },
  'candidate-follows': {
    name: '只提升跟随过的',
    text: '只提升跟随过当前主服务器的副本。关闭后（Redis 实际如此）：旧数据会重新掌权（redis#12570）。',
  },
  'tilt-only-watches': {
    name: '时钟跳变后只观察',
    text: '时钟跳变过的哨兵一段时间内只观察。关闭后：被冻结过的哨兵会把自己的沉默当成主服务器的。',
  },
  'last-sign-of-life': {
    name: '从最后的生命迹象算起',
    text: '副本可以失联多久，从主服务器最后的生命迹象算起。关闭后（Redis 实际如此）：醒得晚的哨兵永远不提升任何副本（redis#5677）。',
  },
  'durable-before-leading': {
    name: '领导先落盘',
    text: '当选者等磁盘记下自己领导，才开始领导。关闭后：崩溃后它会再次赢得同一纪元，把同样的名字发两次。',
  },
  'directory-in-votes': {
    name: '投票的是磁盘，不是名字',
    text: '换过的磁盘是另一个投票者。关闭后：它会替被换掉的磁盘再投一次。',
  },
  'fetched-follower-refuses': {
    name: '拉取过就拒绝',
    text: '从领导者拉取过的跟随者拒绝预投票。关闭后：回来的节点会赶下健康的领导者。',
  },
  'unfetched-follower-grants': {
    name: '没拉取过就同意',
    text: '还没拉取过的跟随者同意预投票（KAFKA-17641）。关闭后：两个跟随者会永远把对方推回死去的领导者。',
  },
  'pre-vote-not-persisted': {
    name: '预投票不记录',
    text: '预投票不写入磁盘。关闭后：它会占掉这个纪元真正需要的那一票。',
  },
  'spread-backoff': {
    name: '落选者错开等待',
    text: '落选者在允许的等待时间内均匀取值。关闭后（Kafka 发布的代码即如此）：几次之后几乎都等满最长时间，票再次被瓜分。',
  },
  'own-epoch-high-watermark': {
    name: '先有本纪元的记录',
    text: '多数有了本纪元的记录，领导者才公布高水位。关闭后：公布的内容下一个领导者可能没有。',
  },
  'high-watermark-never-falls': {
    name: '高水位不倒退',
    text: '领导者的高水位从不倒退。关闭后：迟到的拉取会让它倒退。',
  },
  'truncate-first': {
    name: '先截断',
    text: '分叉的跟随者先截断日志，再采用高水位（KAFKA-14704）。关闭后：它会把自己的尾部当成已提交。',
  },
  'divergence-checked': {
    name: '比较日志',
    text: '领导者把跟随者的日志与自己的比较。关闭后：日志中间会出现差异。',
  },
  'flush-before-fetch': {
    name: '落盘再拉取',
    text: '投票者把拉到的内容写到磁盘，再接着拉取。关闭后：崩溃会丢失已提交的内容。',
  },
  'flush-before-own-ack': {
    name: '自己的副本先落盘',
    text: '领导者自己的副本落盘之后才计入。关闭后：只有它和另一个节点拥有的内容会丢失。',
  },
  'check-quorum': {
    name: '检查多数',
    text: '没有多数来拉取的领导者辞任（KAFKA-15489）。关闭后：被隔开的领导者会一直领导下去。',
  },
  'restarted-leader-resigns': {
    name: '重启即辞任',
    text: '重启的领导者不再领导那个纪元。关闭后：它会把丢失的记录的名字发给别的记录。',
  },
  'claim-after-catchup': {
    name: '追上再接管',
    text: '控制器应用日志到自己的纪元之后才行事（KAFKA-17333）。关闭后：它会依据旧状态作决定。',
  },
  'renounce-resigns-raft': {
    name: '放弃即辞任',
    text: '控制器放弃时，它的节点也辞任（KAFKA-13104）。关闭后：领导者健康，却没有控制器。',
  },
  'eligible-for-isr': {
    name: '能领导的才算同步',
    text: '已隔离或即将关闭的代理不能进入 ISR（KAFKA-13916）。关闭后：它会进入。',
  },
  'last-known-is-active': {
    name: '上一任领导者须在位',
    text: '上一任领导者在位时才会当选（KAFKA-19522）。关闭后：已隔离的代理会领导。',
  },
  'clean-election': {
    name: '干净选举',
    text: '只选 ISR 中的副本，ISR 为空时才选 ELR 中的。关闭后：在位的都能当选，已提交的内容会丢失。',
  },
  'unclean-leaves': {
    name: '丢了尾部就退出',
    text: '丢失日志尾部的代理重新注册时退出 ISR 和 ELR（KAFKA-18106）。关闭后：它缺着已提交的内容继续领导。',
  },
  'broker-epoch-checked': {
    name: '每次注册各有纪元',
    text: '以旧注册的名义所说的一律拒绝（KIP-903）。关闭后：空盘回来的代理会凭从前的状态算作同步。',
  },
  'later-epoch-is-not-controller': {
    name: '纪元更新：不是控制器',
    text: '知道更新纪元的代理会被告知对方不是控制器（KAFKA-14154）。关闭后：它以为自己被隔离，ISR 再也不变。',
  },
  'leader-epoch-rises': {
    name: '领导者纪元递增',
    text: '每次写入领导者，纪元就增加。关闭后：两个领导者共用一个令牌。',
  },
  'applies-committed': {
    name: '只应用已提交的元数据',
    text: '代理只应用已提交的内容。关闭后：它会依据从未成立的决定来领导。',
  },
  'leader-epoch-fences': {
    name: '领导者纪元隔离',
    text: '副本不接受在别的领导者纪元里所说的（KIP-101）。关闭后：跟随者从前拥有的会算成现在拥有的。',
  },
  'truncates-by-epoch': {
    name: '按纪元截断',
    text: '跟随者按领导者的纪元截掉那里没有的内容（KIP-101）。关闭后按自己的高水位截断：会截掉已提交的记录。',
  },
  'divergence-moves-nothing': {
    name: '分叉不推进高水位',
    text: '表示日志分叉的答复不推进高水位（KAFKA-14704）。关闭后：即将截掉的尾部会算作已提交。',
  },
  'reaches-epoch-start': {
    name: '先到纪元起点',
    text: '跟随者有了领导者纪元之前的全部内容才进入 ISR（KAFKA-7128）。关闭后：它当选时会缺少此前已提交的内容。',
  },
  'maximal-isr': {
    name: '可能同步的都要等',
    text: '高水位也等待已提议进入 ISR 的副本。关闭后：未经同意而去掉的副本会当选，却缺少已提交的内容。',
  },
  'min-isr-for-high-watermark': {
    name: '不足下限不提交',
    text: '启用 ELR 时，ISR 小于 min.insync.replicas 则高水位不动（KIP-966）。关闭后：有资格当选的副本会缺少已提交的内容。',
  },
};
