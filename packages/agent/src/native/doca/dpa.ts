import type { DocaDevice } from './device.ts'
import {
  DPA_COUNTER_STATE,
  DPA_COUNTER_TYPE,
  DPA_CUMULATIVE,
  DPA_NAME_BYTES,
  DPA_PROCESS,
  DPA_THREAD,
} from './dpa-layout.ts'
import { DocaFailure } from './failure.ts'
import type { Argument } from './library.ts'
import type { DocaSymbol } from './symbols.ts'

/** Size of a list at most. A device was seen to ask for 1.8 MB. Unit: bytes. */
const LIST_BYTES_MAX = 16 << 20
/** Memory behind a list, because a library may write beyond the size that it reported. Unit: bytes. */
const SPARE_BYTES = 4096
const MS_PER_S = 1000

/** A process on the data-path accelerator. */
export interface DpaProcess {
  readonly id: number
  readonly threads: number
  /** Empty unless the application set it. */
  readonly name: string
}

/** A thread on the data-path accelerator. */
export interface DpaThread {
  readonly process: number
  readonly id: number
  /** Empty unless the application set it. */
  readonly name: string
}

/** Use of the accelerator by a thread since its counter was started. */
export interface DpaUse {
  readonly process: number
  readonly thread: number
  readonly activeSeconds: number
  readonly cycles: bigint
  readonly instructions: bigint
  readonly executions: bigint
}

/** How the accelerator of a device names all processes and all threads, and how fast its timer is. */
interface DpaNumbers {
  readonly allProcesses: number
  readonly allThreads: number
  /** Unit: kilohertz. */
  readonly timerKhz: number
}

/** The data-path accelerator of a device, by `doca_telemetry_dpa`. It never resets a counter. */
export class Dpa {
  readonly #device: DocaDevice
  readonly #context: bigint
  readonly #numbers: DpaNumbers
  #memory = Buffer.from(new ArrayBuffer(SPARE_BYTES))

  private constructor(device: DocaDevice, context: bigint, numbers: DpaNumbers) {
    this.#device = device
    this.#context = context
    this.#numbers = numbers
  }

  /** Opens the accelerator of a device. */
  static async open(device: DocaDevice): Promise<Dpa | DocaFailure> {
    const refused = await device.call('doca_telemetry_dpa_cap_is_supported', device.info)
    if (refused !== undefined) return refused
    const allProcesses = await device.number('doca_telemetry_dpa_get_all_process_id', device.info)
    if (allProcesses instanceof DocaFailure) return allProcesses
    const allThreads = await device.number('doca_telemetry_dpa_get_all_thread_id', device.info)
    if (allThreads instanceof DocaFailure) return allThreads
    const context = await device.create('doca_telemetry_dpa_create')
    if (context instanceof DocaFailure) return context
    const timerKhz = await startedTimer(device, context)
    if (!(timerKhz instanceof DocaFailure)) return new Dpa(device, context, { allProcesses, allThreads, timerKhz })
    await device.destroy(context)
    return timerKhz
  }

  /** Reads the processes; none if no process runs. */
  processes(): Promise<DpaProcess[] | DocaFailure> {
    const { allProcesses } = this.#numbers
    return this.#list(
      ['doca_telemetry_dpa_get_process_list_size', 'doca_telemetry_dpa_read_processes_list'],
      [allProcesses],
      DPA_PROCESS.bytes,
      (memory, at) => ({
        id: memory.readUInt32LE(at + DPA_PROCESS.id),
        threads: memory.readUInt32LE(at + DPA_PROCESS.threads),
        name: nameAt(memory, at + DPA_PROCESS.name),
      }),
    )
  }

  /** Reads the threads of all processes. */
  threads(): Promise<DpaThread[] | DocaFailure> {
    return this.#list(
      ['doca_telemetry_dpa_get_thread_list_size', 'doca_telemetry_dpa_read_thread_list'],
      this.#allThreads(),
      DPA_THREAD.bytes,
      (memory, at) => ({
        process: memory.readUInt32LE(at + DPA_THREAD.process),
        id: memory.readUInt32LE(at + DPA_THREAD.id),
        name: nameAt(memory, at + DPA_THREAD.name),
      }),
    )
  }

  /** Reads the use of the accelerator by each thread whose process has a started counter. */
  use(): Promise<DpaUse[] | DocaFailure> {
    const ticksPerSecond = this.#numbers.timerKhz * MS_PER_S
    return this.#list(
      ['doca_telemetry_dpa_get_cumul_samples_size', 'doca_telemetry_dpa_read_cumul_info_list'],
      this.#allThreads(),
      DPA_CUMULATIVE.bytes,
      (memory, at) => ({
        process: memory.readUInt32LE(at + DPA_CUMULATIVE.process),
        thread: memory.readUInt32LE(at + DPA_CUMULATIVE.thread),
        activeSeconds: Number(memory.readBigUInt64LE(at + DPA_CUMULATIVE.ticks)) / ticksPerSecond,
        cycles: memory.readBigUInt64LE(at + DPA_CUMULATIVE.cycles),
        instructions: memory.readBigUInt64LE(at + DPA_CUMULATIVE.instructions),
        executions: memory.readBigUInt64LE(at + DPA_CUMULATIVE.executions),
      }),
    )
  }

  /** Asks how much memory each list needs. Unit: bytes. */
  async listBytes(): Promise<Record<'processes' | 'threads' | 'use', number> | DocaFailure> {
    const { allProcesses } = this.#numbers
    const sizes: number[] = []
    for (const [call, args] of [
      ['doca_telemetry_dpa_get_process_list_size', [allProcesses]],
      ['doca_telemetry_dpa_get_thread_list_size', this.#allThreads()],
      ['doca_telemetry_dpa_get_cumul_samples_size', this.#allThreads()],
    ] as const) {
      const bytes = await this.#device.number(call, this.#context, ...args)
      if (bytes instanceof DocaFailure) return bytes
      sizes.push(bytes)
    }
    const [processes = 0, threads = 0, use = 0] = sizes
    return { processes, threads, use }
  }

  /** Returns whether the counter of a process runs, whoever started it. */
  async isCounting(process: number): Promise<boolean | DocaFailure> {
    const state = await this.#device.number('doca_telemetry_dpa_get_counter_state', this.#context, process)
    return state instanceof DocaFailure ? state : state === DPA_COUNTER_STATE.ACTIVE
  }

  /** Starts the counter of a process. It runs on after the end of this program, until it is stopped. */
  startCounter(process: number): Promise<DocaFailure | undefined> {
    const { CUMULATIVE_EVENT } = DPA_COUNTER_TYPE
    return this.#device.call('doca_telemetry_dpa_counter_start', this.#context, process, CUMULATIVE_EVENT)
  }

  /** Stops the counter of a process, whoever started it. */
  stopCounter(process: number): Promise<DocaFailure | undefined> {
    const { CUMULATIVE_EVENT } = DPA_COUNTER_TYPE
    return this.#device.call('doca_telemetry_dpa_counter_stop', this.#context, process, CUMULATIVE_EVENT)
  }

  /** Counters run on. May be called twice. */
  async close(): Promise<void> {
    await this.#device.destroy(this.#context)
  }

  #allThreads(): readonly number[] {
    return [this.#numbers.allProcesses, this.#numbers.allThreads]
  }

  /** Reads a list. Its size is asked each time, because otherwise late entries are lost. */
  async #list<T>(
    [sizeCall, readCall]: readonly [DocaSymbol, DocaSymbol],
    wanted: readonly Argument[],
    entryBytes: number,
    parse: (memory: Buffer, at: number) => T,
  ): Promise<T[] | DocaFailure> {
    const device = this.#device
    const bytes = await device.number(sizeCall, this.#context, ...wanted)
    if (bytes instanceof DocaFailure) return isNothing(bytes) ? [] : bytes
    if (bytes > LIST_BYTES_MAX) return new DocaFailure(device.name, sizeCall, 'TOO_BIG')
    if (this.#memory.length < bytes + SPARE_BYTES) this.#memory = Buffer.from(new ArrayBuffer(bytes + SPARE_BYTES))
    const memory = this.#memory
    const failure = await device.call(readCall, this.#context, ...wanted, device.memory.cleared, memory)
    if (failure !== undefined) return isNothing(failure) ? [] : failure
    // A library that reports more entries than its size has room for is not followed.
    const count = Math.min(device.memory.number, Math.floor(bytes / entryBytes))
    return Array.from({ length: count }, (_, entry) => parse(memory, entry * entryBytes))
  }
}

/** Starts the context, and asks how fast the timer is. Unit: kilohertz. */
async function startedTimer(device: DocaDevice, context: bigint): Promise<number | DocaFailure> {
  const failure = await device.call('doca_telemetry_dpa_start', context)
  if (failure !== undefined) return failure
  const call = 'doca_telemetry_dpa_get_dpa_timer_freq'
  const timerKhz = await device.number(call, context)
  return timerKhz === 0 ? new DocaFailure(device.name, call, 'UNEXPECTED') : timerKhz
}

/** Nothing is there now: no process, no thread, or no started counter. */
function isNothing({ name }: DocaFailure): boolean {
  return name === 'NOT_FOUND'
}

function nameAt(memory: Buffer, at: number): string {
  const bytes = memory.subarray(at, at + DPA_NAME_BYTES)
  const end = bytes.indexOf(0)
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end)
}
