// Reads the owner of a process from its control groups. A control group has a path. The root user and its programs
// (systemd, kubelet, container runtimes, slurmd) make the upper folders of the path. Whoever was given a folder may
// make any folder below it: a container, a user's own systemd, a service. Names below such a folder prove nothing, so
// the walk goes from the top and ends at the first such folder.

/** The owner of a process, as far as its control groups prove it. */
export interface CgroupOwner {
  /**
   * `pod`: a pod of Kubernetes. `slurm`: a Slurm job. `container`: a container without a pod. `service`: a service or
   * scope of systemd. `user`: a login of a user.
   */
  readonly kind: 'pod' | 'slurm' | 'container' | 'service' | 'user'
  /** UID of the pod, job id, container id, unit, or number of the user. Empty for a Slurm job that has only a SLUID. */
  readonly id: string
  /** Container runtime, such as `containerd`; empty if the path does not say it. */
  readonly runtime: string
  /** Id of the container; empty if there is none. */
  readonly container: string
}

/** If several hierarchies of version 1 name an owner, the owner of the highest rank counts. */
const RANKS = { pod: 5, slurm: 4, container: 3, service: 2, user: 1 } as const
const PATH_CHARACTERS_MAX = 4096
const FOLDERS_MAX = 64

const UID = '[0-9a-f]{8}([-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32}'
const ID = '[0-9a-f]{64}'
/** cgroupfs driver: `pod<uid>`. */
const POD = new RegExp(`^pod(?<uid>${UID})$`)
/**
 * systemd driver; `kubelet-` if the kubelet has a root of its own; the container behind `:` if the drivers disagree.
 */
const POD_SLICE = new RegExp(
  `^(?:[a-z0-9-]+-)?kubepods(?:-burstable|-besteffort)?-pod(?<uid>${UID})\\.slice(?::(?<runtime>[a-z-]+):(?<id>${ID}))?$`,
)
const QOS = /^(kubepods|burstable|besteffort)$/
/** A container: with the name of its runtime, as a scope of systemd or not. */
const CONTAINER = new RegExp(`^(?:(?<runtime>cri-containerd|crio|docker|libpod|nerdctl)-)?(?<id>${ID})(?:\\.scope)?$`)
const MISFILED = new RegExp(`^[^:]*:(?<runtime>[a-z-]+):(?<id>${ID})$`)
const LXC = /^lxc\.payload\.(?<id>[\w.-]{1,128})$/
const RUNTIMES: Readonly<Record<string, string>> = {
  'cri-containerd': 'containerd',
  crio: 'cri-o',
  docker: 'docker',
  libpod: 'podman',
  libpod_parent: 'podman',
  nerdctl: 'containerd',
}
/** Services whose folders belong to container runtimes and the kubelet. */
const RUNTIME_SERVICE = /^(containerd|crio|cri-o|docker|kubelet|k3s|k3s-agent|rke2-agent|rke2-server)\.service$/
const SLURM_V1 = /^slurm(_[\w.-]+)?$/
/** With several slurmd on a machine, the name of the node precedes. */
const SLURM_V2 = /^([\w.-]+_)?slurmstepd\.scope$/
const JOB = /^job_(?<id>\d{1,10})$/
/** Slurm 26.05 names jobs by a SLUID in place of the job id. */
const SLUID = /^s[0-9A-Z]{13}$/
const USER_MANAGER = /^user@(?<id>\d{1,10})\.service$/
const USER_SLICE = /^user-(?<id>\d{1,10})\.slice$/
const UNIT = /\.(service|scope)$/

/** The owner in the text of `/proc/PID/cgroup`; undefined if the control groups prove none. */
export function cgroupOwner(text: string): CgroupOwner | undefined {
  let best: CgroupOwner | undefined
  for (const line of text.split('\n')) {
    const path = /^\d+:[^:]*:(?<path>\/.*)$/.exec(line)?.groups?.path
    const found = path === undefined ? undefined : ownerOfPath(path.replace(/ \(deleted\)$/, ''))
    if (found !== undefined && (best === undefined || RANKS[found.kind] > RANKS[best.kind])) best = found
  }
  return best
}

/** The owner in the path of one control group; undefined if it proves none. */
function ownerOfPath(path: string): CgroupOwner | undefined {
  if (path.length > PATH_CHARACTERS_MAX) return undefined
  const folders = path.split('/').filter(Boolean).slice(0, FOLDERS_MAX)
  // In a control group namespace of Sonde's own, the path starts at Sonde's group: `/../../kubepods-…`.
  const up = folders.findIndex((folder) => folder !== '..')
  const below = up < 0 ? [] : folders.slice(up)
  let login: CgroupOwner | undefined
  let service: CgroupOwner | undefined
  for (const [at, folder] of below.entries()) {
    const place = { before: below[at - 1] ?? '', next: below[at + 1] ?? '', isFirst: at === 0 && up > 0 }
    const found = podOf(folder, place) ?? jobOf(below, at) ?? containerOf(folder, place.before)
    if (found !== undefined) return found
    const user = (USER_MANAGER.exec(folder) ?? USER_SLICE.exec(folder))?.groups?.id
    if (user !== undefined) login = { kind: 'user', id: user, runtime: '', container: '' }
    if (!UNIT.test(folder)) continue
    service = { kind: 'service', id: folder, runtime: '', container: '' }
    // Everything below is named by the service, or by the user of a user manager: also containers and pods.
    if (!RUNTIME_SERVICE.test(folder)) return login ?? service
  }
  return login ?? service
}

interface Place {
  readonly before: string
  readonly next: string
  /** Whether the path starts with this folder, in a control group namespace of Sonde's own. */
  readonly isFirst: boolean
}

function podOf(folder: string, { before, next, isFirst }: Place): CgroupOwner | undefined {
  const slice = POD_SLICE.exec(folder)?.groups
  const found = slice ?? (QOS.test(before) || isFirst ? POD.exec(folder)?.groups : undefined)
  if (found?.uid === undefined) return undefined
  const inside = slice?.id === undefined ? CONTAINER.exec(next)?.groups : slice
  const runtime = RUNTIMES[inside?.runtime ?? ''] ?? ''
  return { kind: 'pod', id: found.uid.replaceAll('_', '-'), runtime, container: inside?.id ?? '' }
}

function jobOf(folders: readonly string[], at: number): CgroupOwner | undefined {
  const folder = folders[at] ?? ''
  const isOld = SLURM_V1.test(folder) && /^uid_\d+$/.test(folders[at + 1] ?? '')
  const name = isOld ? folders[at + 2] : SLURM_V2.test(folder) ? folders[at + 1] : undefined
  if (name === undefined) return undefined
  const job = JOB.exec(name)?.groups?.id
  if (job === undefined && !SLUID.test(name)) return undefined
  return { kind: 'slurm', id: job ?? '', runtime: '', container: '' }
}

function containerOf(folder: string, before: string): CgroupOwner | undefined {
  const lxc = LXC.exec(folder)?.groups?.id ?? (before === 'lxc' ? folder : undefined)
  if (lxc !== undefined) return { kind: 'container', id: lxc, runtime: 'lxc', container: lxc }
  const found = (CONTAINER.exec(folder) ?? MISFILED.exec(folder))?.groups
  if (found?.id === undefined) return undefined
  const runtime = RUNTIMES[found.runtime ?? before] ?? ''
  return { kind: 'container', id: found.id, runtime, container: found.id }
}
