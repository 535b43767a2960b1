//! Which systems a scheme is known from, by whose parameters a file can go.

use super::Kind;
use tenure::lease::Preset;

/// The names of [`Preset::ALL`].
pub(crate) const PRESETS: [&str; Preset::ALL.len()] = {
    let mut names = [""; Preset::ALL.len()];
    let mut place = 0;
    while place < names.len() {
        names[place] = Preset::ALL[place].name();
        place += 1;
    }
    names
};

/// By what each of them elects.
pub(crate) const PRESET_OF: [(Preset, Kind); Preset::ALL.len()] = {
    let mut of = [(Preset::ClientGo, Kind::Kubernetes); Preset::ALL.len()];
    let mut place = 0;
    while place < of.len() {
        let preset = Preset::ALL[place];
        of[place] = (preset, elects_by(preset));
        place += 1;
    }
    of
};

const fn elects_by(preset: Preset) -> Kind {
    match preset {
        Preset::ClientGo | Preset::OpenShift | Preset::LeaderElector | Preset::Flink => {
            Kind::Kubernetes
        }
        Preset::Patroni => Kind::EtcdSingle,
        Preset::Milvus => Kind::Milvus,
        Preset::Curator | Preset::Solr => Kind::ZooKeeper,
        Preset::ShedLock | Preset::Quartz => Kind::Sql,
        Preset::Redisson => Kind::Redis,
        Preset::Redsync | Preset::NodeRedlock => Kind::Redlock,
        // The election of etcd's client.
        _ => Kind::Etcd,
    }
}

impl Kind {
    /// The systems that elect like this.
    pub fn presets(self) -> impl Iterator<Item = Preset> {
        let own = PRESET_OF.into_iter().filter(move |(_, kind)| *kind == self);
        own.map(|(preset, _)| preset)
    }
}
