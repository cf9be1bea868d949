import { open, readlink } from 'node:fs/promises'
import { OPEN_FLAGS } from '../kernel-file.ts'
import { type CgroupOwner, cgroupOwner } from './cgroup-owner.ts'
import { mayClaimJob } from './workload.ts'

/** Inode of the first PID namespace of a machine: `PROC_PID_INIT_INO` of the kernel. */
const FIRST_NAMESPACE = 'pid:[4026531836]'
/** Longest file. A longer file counts as unreadable, because a path that is cut may name another owner. */
const FILE_BYTES_MAX = 65_536
/** An environment is longer where a user exports functions. The job id is found in the first part. */
const ENVIRONMENT_BYTES_MAX = 262_144
/** Kernel ticks of `stat` in a second: `USER_HZ`, 100 on every architecture with NVIDIA drivers. */
const TICKS_PER_SECOND = 100
/** `TASK_COMM_LEN` of the kernel, without the byte that ends it. */
const NAME_CHARACTERS_MAX = 15
/** Field 22 of `stat` is the start; the fields after the name start with field 3. */
const START_FIELD = 22 - 3

/** A process, as procfs describes it. */
export interface ProcessFacts {
  /** Start of the process, in ticks since the start of the machine. With the pid it identifies the process. */
  readonly startTicks: number
  /** Name of its program, at most 15 bytes. The process may change it. */
  readonly name: string
  readonly owner: CgroupOwner | undefined
  /** Value of `SLURM_JOB_ID` in its environment, where that may say more than its control groups; else empty. */
  readonly claimedJob: string
}

/** Reads processes from procfs. */
export class ProcFiles {
  readonly #root: string

  /** @param procfs The folder, `/proc`. */
  constructor(procfs: string) {
    this.#root = procfs
  }

  /** Time since the start of the machine, in ticks of {@link ProcessFacts.startTicks}; undefined if it is unknown. */
  async nowTicks(): Promise<number | undefined> {
    const seconds = Number.parseFloat((await this.#read('uptime', FILE_BYTES_MAX)) ?? '')
    return Number.isFinite(seconds) ? Math.ceil(seconds * TICKS_PER_SECOND) : undefined
  }

  /** Whether this process sees all processes of the machine; undefined if the kernel does not say it. */
  async seesAll(): Promise<boolean | undefined> {
    try {
      return (await readlink(`${this.#root}/self/ns/pid`)) === FIRST_NAMESPACE
    } catch {
      return undefined
    }
  }

  /** Start of a process; undefined if there is no such process. */
  async startTicks(pid: number): Promise<number | undefined> {
    return (await this.#stat(pid))?.startTicks
  }

  /** Facts of a process; undefined if it ended, also if another process got its pid during the reading. */
  async facts(pid: number): Promise<ProcessFacts | undefined> {
    const before = await this.#stat(pid)
    if (before === undefined) return undefined
    const cgroup = await this.#read(`${pid}/cgroup`, FILE_BYTES_MAX)
    const owner = cgroup === undefined ? undefined : cgroupOwner(cgroup)
    const environment = mayClaimJob(owner) ? await this.#read(`${pid}/environ`, ENVIRONMENT_BYTES_MAX) : undefined
    const claimedJob = /(?:^|\0)SLURM_JOB_ID=(\d{1,10})\0/.exec(environment ?? '')?.[1] ?? ''
    if ((await this.startTicks(pid)) !== before.startTicks) return undefined
    return { ...before, owner, claimedJob }
  }

  async #stat(pid: number): Promise<Pick<ProcessFacts, 'startTicks' | 'name'> | undefined> {
    const text = await this.#read(`${pid}/stat`, FILE_BYTES_MAX)
    if (text === undefined) return undefined
    // The name may contain blanks and parentheses.
    const [open, close] = [text.indexOf('('), text.lastIndexOf(')')]
    const startTicks = Number(text.slice(close + 2).split(' ')[START_FIELD] ?? Number.NaN)
    if (open < 0 || close < open || !Number.isSafeInteger(startTicks)) return undefined
    const name = text.slice(open + 1, close).replace(/[^\x20-\x7e]/g, '?')
    return { startTicks, name: name.slice(0, NAME_CHARACTERS_MAX) }
  }

  /** The first part of a file; undefined if it cannot be read. */
  async #read(path: string, bytesMax: number): Promise<string | undefined> {
    try {
      await using file = await open(`${this.#root}/${path}`, OPEN_FLAGS)
      const buffer = Buffer.alloc(bytesMax)
      let length = 0
      while (length < bytesMax) {
        const { bytesRead } = await file.read(buffer, length, bytesMax - length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      return length === FILE_BYTES_MAX ? undefined : buffer.toString('utf8', 0, length)
    } catch {
      return undefined
    }
  }
}
