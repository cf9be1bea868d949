import type { PodNames } from './pod-names.ts'
import type { ProcessFacts, ProcFiles } from './proc-files.ts'
import { type Workload, workloadOfProcess } from './workload.ts'

/** A process with its owner. */
export interface OwnedProcess {
  /** Name of its program. */
  readonly name: string
  /** Its owner; undefined if nothing names it. */
  readonly workload: Workload | undefined
}

/**
 * The owners of the processes of one device. A process is identified by pid and start: a new process with the pid of an
 * ended process is read anew.
 */
export class ProcessOwners {
  readonly #files: ProcFiles
  readonly #names: PodNames
  #known: ReadonlyMap<number, ProcessFacts> = new Map()

  constructor(files: ProcFiles, names: PodNames) {
    this.#files = files
    this.#names = names
  }

  /** Number of processes that are kept: those of the last call. */
  get count(): number {
    return this.#known.size
  }

  /**
   * Finds the owners of processes, by pid. A process that has ended is missing.
   *
   * @param listedTicks Time before the pids were listed; a process that started later has the pid of another process.
   * Undefined: unknown.
   */
  async find(pids: readonly number[], listedTicks: number | undefined): Promise<ReadonlyMap<number, OwnedProcess>> {
    const known = new Map<number, ProcessFacts>()
    for (const pid of pids) {
      const facts = await this.#factsOf(pid)
      if (facts === undefined || (listedTicks !== undefined && facts.startTicks > listedTicks)) continue
      known.set(pid, facts)
    }
    this.#known = known
    const find = (uid: string, container: string) => this.#names.find(uid, container)
    const isUnnamed = ({ owner }: ProcessFacts) =>
      owner?.kind === 'pod' && find(owner.id, owner.container) === undefined
    if ([...known.values()].some(isUnnamed)) await this.#names.refresh()
    const owned = [...known].map(([pid, { name, owner, claimedJob }]) => {
      return [pid, { name, workload: workloadOfProcess(owner, claimedJob, find) }] as const
    })
    return new Map(owned)
  }

  async #factsOf(pid: number): Promise<ProcessFacts | undefined> {
    const known = this.#known.get(pid)
    if (known !== undefined && (await this.#files.startTicks(pid)) === known.startTicks) return known
    return this.#files.facts(pid)
  }
}
