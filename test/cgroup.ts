import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
const PERIOD_US = 100_000

/** What a group may use. */
export interface CgroupLimits {
  /** Cores, in parts of one. */
  readonly cores: number
  readonly memoryBytes: number
}

/** A control group of a test's own, of either version of them. */
export class Cgroup {
  /** Folders: one a controller in version 1. */
  readonly #folders: readonly string[]

  private constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  /** Makes one; undefined if this user may not, or the kernel has none. */
  static make({ cores, memoryBytes }: CgroupLimits): Cgroup | undefined {
    const name = `sonde-${process.pid}`
    const quotaUs = Math.round(cores * PERIOD_US)
    try {
      if (existsSync(join(ROOT, 'cgroup.controllers'))) {
        const folder = join(ROOT, name)
        writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+cpu +memory')
        mkdirSync(folder)
        writeFileSync(join(folder, 'cpu.max'), `${quotaUs} ${PERIOD_US}`)
        writeFileSync(join(folder, 'memory.max'), String(memoryBytes))
        return new Cgroup([folder])
      }
      const [cpu, memory] = ['cpu', 'memory'].map((controller) => join(ROOT, controller, name)) as [string, string]
      for (const folder of [cpu, memory]) mkdirSync(folder)
      writeFileSync(join(cpu, 'cpu.cfs_period_us'), String(PERIOD_US))
      writeFileSync(join(cpu, 'cpu.cfs_quota_us'), String(quotaUs))
      writeFileSync(join(memory, 'memory.limit_in_bytes'), String(memoryBytes))
      return new Cgroup([cpu, memory])
    } catch {
      return undefined
    }
  }

  /** The group in which a process is. */
  static ofProcess(pid: number): Cgroup {
    const lines = readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n')
    const places = lines.map((line) => line.split(':'))
    const folders = places.flatMap(([, controllers = '', path = '']) => {
      if (controllers === '') return [join(ROOT, path)]
      return /^(cpu|cpuacct|cpu,cpuacct|memory)$/.test(controllers) ? [join(ROOT, controllers, path)] : []
    })
    return new Cgroup(folders)
  }

  /** Program with arguments that starts another one within the group. */
  get under(): string[] {
    const join = this.#folders.map((folder) => `echo $$ > ${folder}/cgroup.procs`).join('; ')
    return ['sh', '-c', `${join}; exec "$@"`, 'sh']
  }

  /** Leaves it hardly more memory than its processes use: pages of files go, and its next need ends a process. */
  starve(): void {
    const used = Number(/^(?:total_)?(?:rss|anon) (\d+)$/m.exec(this.#read('memory.stat') ?? '')?.[1])
    const files = this.#folders.flatMap((folder) =>
      ['memory.limit_in_bytes', 'memory.max'].map((file) => join(folder, file)),
    )
    const file = files.find((one) => existsSync(one))
    assert.ok(file !== undefined, 'a group without a limit of memory')
    for (let moreBytes = 1 << 20; !isWritten(file, used + moreBytes); moreBytes *= 2);
  }

  /** Takes a process that runs already. */
  take(pid: number): void {
    for (const folder of this.#folders) writeFileSync(join(folder, 'cgroup.procs'), String(pid))
  }

  /** The most memory that was used, with pages of files. Unit: bytes; undefined if the kernel does not tell. */
  get peakBytes(): number | undefined {
    const text = this.#read('memory.max_usage_in_bytes') ?? this.#read('memory.peak')
    return text === undefined ? undefined : Number(text)
  }

  /** Processor time of its processes, also of those that ended. Unit: seconds; undefined if it is unknown. */
  get processorSeconds(): number | undefined {
    const [, usec] = /^usage_usec (\d+)$/m.exec(this.#read('cpu.stat') ?? '') ?? []
    if (usec !== undefined) return Number(usec) / 1e6
    const ns = this.#read('cpuacct.usage')
    return ns === undefined ? undefined : Number(ns) / 1e9
  }

  /** How much of the time it wanted it had to wait. Unit: seconds. */
  get throttledSeconds(): number | undefined {
    const [, unit, time] = /throttled_(time|usec) (\d+)/.exec(this.#read('cpu.stat') ?? '') ?? []
    if (time === undefined) return undefined
    return Number(time) / (unit === 'time' ? 1e9 : 1e6)
  }

  /** Whether a process is in it still, were it one that ended and that nobody asked for. */
  get isUsed(): boolean {
    return this.#read('cgroup.procs') !== ''
  }

  /** Removes it, once its processes have ended. */
  remove(): void {
    for (const folder of this.#folders) rmdirSync(folder)
  }

  #read(file: string): string | undefined {
    const path = this.#folders.map((folder) => join(folder, file)).find((one) => existsSync(one))
    return path === undefined ? undefined : readFileSync(path, 'utf8').trim()
  }
}

/** Sets a limit; false if the kernel refuses it, because what is used is more. */
function isWritten(file: string, bytes: number): boolean {
  try {
    writeFileSync(file, String(bytes))
    return true
  } catch {
    return false
  }
}
