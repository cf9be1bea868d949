import { opendir, readFile, readlink } from 'node:fs/promises'
import type { OwnedProcess, ProcessOwners } from '../processes/process-owners.ts'

/** Processes that are looked at. Policy: later ones are not. */
const PROCESSES_MAX = 65_536
/** Interfaces of one namespace. Policy: later ones are not read. */
const INTERFACES_MAX = 64
const LOOPBACK = 'lo'

/** A network namespace other than Sonde's own. */
export interface PodNamespace {
  /** Such as `net:[4026532180]`. */
  readonly id: string
  /** A process in it. */
  readonly pid: number
  readonly owner: OwnedProcess['workload']
  /** Names of its interfaces without loopback, sorted. */
  readonly interfaces: readonly string[]
}

/** The list of network namespaces, and how many there was no room for. */
export interface NamespaceList {
  readonly namespaces: readonly PodNamespace[]
  readonly leftOut: number
}

/** Lists the network namespaces of other processes, each with the process of the lowest pid, and its owner. */
export async function namespacesIn(procfs: string, owners: ProcessOwners, max: number): Promise<NamespaceList> {
  const own = await namespaceOf(procfs, 'self')
  const first = new Map<string, number>()
  let count = 0
  for await (const { name } of await opendir(procfs)) {
    if (!/^\d+$/.test(name)) continue
    if (++count > PROCESSES_MAX) break
    const id = await namespaceOf(procfs, name)
    const pid = Number(name)
    if (id !== '' && id !== own && pid < (first.get(id) ?? Number.POSITIVE_INFINITY)) first.set(id, pid)
  }
  const chosen = [...first].sort(([, a], [, b]) => a - b).slice(0, max)
  const owned = await owners.find(
    chosen.map(([, pid]) => pid),
    undefined,
  )
  const namespaces: PodNamespace[] = []
  for (const [id, pid] of chosen) {
    const owner = owned.get(pid)?.workload
    namespaces.push({ id, pid, owner, interfaces: await interfacesOf(procfs, pid) })
  }
  return { namespaces, leftOut: first.size - chosen.length }
}

/** Names of the interfaces in the namespace of a process; none if it ended. */
async function interfacesOf(procfs: string, pid: number): Promise<string[]> {
  try {
    const lines = (await readFile(`${procfs}/${pid}/net/dev`, 'utf8')).split('\n').slice(2)
    const names = lines.flatMap((line) => /^\s*(\S{1,15}):/.exec(line)?.[1] ?? [])
    return names
      .filter((name) => name !== LOOPBACK)
      .sort()
      .slice(0, INTERFACES_MAX)
  } catch {
    // The process has ended.
    return []
  }
}

async function namespaceOf(procfs: string, process: string): Promise<string> {
  try {
    return await readlink(`${procfs}/${process}/ns/net`)
  } catch {
    // The process has ended, or belongs to another user.
    return ''
  }
}
