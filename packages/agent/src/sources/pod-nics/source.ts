import { readlink } from 'node:fs/promises'
import { type Labels, SondeError, wallNs } from '@sonde/sdk'
import { countOf, messageOf } from '@sonde/sdk/internal'
import { PodNames } from '../processes/pod-names.ts'
import { ProcFiles } from '../processes/proc-files.ts'
import { ProcessOwners } from '../processes/process-owners.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { PodNicsOptions } from './config.ts'
import { hostInterfaces } from './functions.ts'
import { namespacesIn, type PodNamespace } from './namespaces.ts'
import { type Nic, nicsIn } from './nics.ts'
import { lookAt } from './pod-nics.ts'
import { podNicType } from './type.ts'

const VIA = 'network namespace'
const GONE = 'the interface left the network namespace of the pod'
const LIMIT_MS = 10_000

/** The interfaces of a namespace as they were read. They are read again when the list of names changes. */
interface KnownNamespace {
  readonly names: string
  readonly nics: readonly Nic[]
}

/** Reports the interfaces in the network namespaces of pods. */
export class PodNicsSource implements NodeSource {
  readonly #options: PodNicsOptions
  readonly #context: SourceContext
  readonly #read: typeof nicsIn
  readonly #names: PodNames
  readonly #owners: ProcessOwners
  readonly #duties: readonly Duty[]
  #known: ReadonlyMap<string, KnownNamespace> = new Map()
  #rows: ReadonlyMap<string, Labels> = new Map()
  #found = 'no network namespace of a pod'

  /** @param read Asks the drivers of a namespace. Default: it enters the namespace. */
  constructor(options: PodNicsOptions, context: SourceContext, read: typeof nicsIn = nicsIn) {
    this.#read = read
    this.#options = options
    this.#context = context
    this.#names = new PodNames(options.log_folder, () => performance.now())
    this.#owners = new ProcessOwners(new ProcFiles(context.paths.procfs), this.#names)
    this.#duties = [
      {
        ...{ device: '', name: 'list', everyUs: context.intervalMs * 1000, paces: 'report', limitMs: LIMIT_MS },
        run: () => this.#list(),
      },
    ]
  }

  /** Number of namespaces and series that are kept. */
  get counts(): Readonly<Record<'namespaces' | 'rows', number>> {
    return { namespaces: this.#known.size, rows: this.#rows.size }
  }

  async probe(): Promise<Probe> {
    return lookAt(this.#context.paths)
  }

  found(): string {
    return this.#found
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  /**
   * Takes the names of pods, by which the owners of namespaces are named.
   *
   * @throws SondeError `AGT_COMMAND` if the command is malformed.
   */
  command(command: unknown): object {
    this.#names.take(command)
    return {}
  }

  close(): void {
    this.#known = new Map()
  }

  async #list(): Promise<void> {
    const { paths, dropped } = this.#context
    const { namespaces, leftOut } = await namespacesIn(paths.procfs, this.#owners, this.#options.max_namespaces)
    if (leftOut > 0) dropped('namespace_limit', leftOut)
    const owned = namespaces.filter(({ owner }) => owner !== undefined)
    const known = new Map<string, KnownNamespace>()
    let refusal: unknown
    for (const namespace of owned) {
      try {
        const nics = await this.#nicsOf(namespace)
        if (nics !== undefined) known.set(namespace.id, nics)
      } catch (error) {
        refusal = error
      }
    }
    this.#known = known
    this.#report(owned)
    this.#found = `${countOf(known.size, 'network namespace')}, ${countOf(this.#rows.size, 'interface')}`
    this.#tell(refusal)
  }

  /** The interfaces of a namespace; undefined if its process ended meanwhile. */
  async #nicsOf(namespace: PodNamespace): Promise<KnownNamespace | undefined> {
    const names = namespace.interfaces.join(' ')
    const known = this.#known.get(namespace.id)
    if (known?.names === names) return known
    const { procfs, sysfs } = this.#context.paths
    const path = `${procfs}/${namespace.pid}/ns/net`
    const nics = await this.#read(path, namespace.interfaces, { sysfs, interfaces: await hostInterfaces(sysfs) })
    // Another process may have got the pid: then these are interfaces of another namespace.
    const isSame = (await readlink(path).catch(() => '')) === namespace.id
    return isSame ? { names, nics } : undefined
  }

  #report(namespaces: readonly PodNamespace[]): void {
    const rows = new Map<string, Labels>()
    const time = wallNs()
    const { source, absences } = this.#context
    for (const { id, owner } of namespaces) {
      for (const { name, rdma_device, ...nic } of this.#known.get(id)?.nics ?? []) {
        const labels = { namespace: owner?.namespace ?? '', pod: owner?.pod ?? '', interface: name, rdma_device }
        rows.set(JSON.stringify(Object.values(labels)), labels)
        source.report(podNicType, { time, ...labels, ...nic, via: VIA })
      }
    }
    for (const [key, labels] of this.#rows) if (!rows.has(key)) absences.gone(podNicType, labels, GONE)
    this.#rows = rows
  }

  /** Reports why namespaces cannot be read. */
  #tell(refusal: unknown): void {
    const { absences } = this.#context
    if (refusal === undefined) absences.clear(podNicType, undefined, '')
    else absences.set(podNicType, undefined, '', 'denied', messageOf(refusal))
    if (this.#known.size === 0 && refusal instanceof SondeError) throw refusal
  }
}
