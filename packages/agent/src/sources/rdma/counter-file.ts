import type { Integer64 } from '@sonde/sdk/internal'
import type { AttributeReader } from '../attribute-reader.ts'
import { Missing } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { isNumber, type NumberFailure } from '../kernel-text.ts'
import type { FileCost } from '../slow-reads.ts'
import { type CounterReading, WideCounter } from '../wide-counter.ts'
import type { CounterForm } from './names.ts'
import { parseCounter } from './parse.ts'

/** A refused file is skipped for at most so many sweeps, unless the caller sets another limit. */
const PAUSE_READS_MAX = 63
const NOT_KEPT = new Missing('unsupported', 'the port has no such counter (N/A)')

/** Result of reading a counter. `missing` may mean that the whole port is gone. */
export type CounterOutcome = 'read' | 'absent' | 'missing'

/**
 * The file of one counter, and its last value. A file that is refused is skipped for a while, longer each time: on
 * restricted functions each read is a command that the firmware refuses and the driver logs.
 */
export class CounterFile<F extends string> {
  readonly name: string
  readonly form: CounterForm<F>
  value: Integer64 | undefined
  /** What its reads cost. */
  readonly cost: FileCost
  /** Whether it stands at its maximum. */
  saturated = false
  readonly #file: KernelFile
  readonly #attributes: AttributeReader
  readonly #absentField: string
  readonly #unitBytes: number
  readonly #stuckAt: number
  readonly #wide: WideCounter | undefined
  readonly #pauseReadsMax: number
  #pause = 0
  #refusals = 0

  /**
   * @param absentField Field that is reported as absent, or `''` if the counter is a series of its own.
   * @param pauseReadsMax Sweeps for which a refused file is skipped at most. Default: 63.
   */
  constructor(
    name: string,
    form: CounterForm<F>,
    file: KernelFile,
    attributes: AttributeReader,
    absentField: string = form.field,
    pauseReadsMax = PAUSE_READS_MAX,
  ) {
    this.#pauseReadsMax = pauseReadsMax
    this.cost = file.slowReads.newCost()
    this.name = name
    this.form = form
    this.#file = file
    this.#attributes = attributes
    this.#absentField = absentField
    this.#unitBytes = form.bytes ?? 1
    this.#stuckAt = form.stuckBits === undefined ? -1 : (2 ** form.stuckBits - 1) * this.#unitBytes
    this.#wide = form.wraps === true ? new WideCounter() : undefined
  }

  /** Reads the counter, unless it is skipped because it was refused. */
  read(reading: CounterReading): CounterOutcome {
    if (this.#pause > 0) {
      this.#pause--
      return 'absent'
    }
    const bytes = this.#refusals > 0 ? this.#file.readAnew() : this.#file.read()
    if (bytes instanceof ReadFailure) return this.#lose(bytes)
    const value = parseCounter(bytes, this.#unitBytes)
    if (!isNumber(value)) return this.#lose(bytes, value)
    this.#refusals = 0
    if (this.value === undefined) this.#attributes.absences.present(this.#absentField)
    this.value = this.#wide === undefined ? value : this.#wide.next(value, reading)
    this.saturated = value === this.#stuckAt
    return 'read'
  }

  close(): void {
    this.#file.close()
  }

  /** The file is no longer read. */
  forget(): void {
    this.#file.slowReads.forget(this.cost)
    this.close()
  }

  /** Whether it is read now; a slow file rests, and keeps its value. */
  isDue(nowMs: number): boolean {
    return this.#file.slowReads.isDue(this.cost, nowMs)
  }

  /** Notes the time of a read. Unit: milliseconds. */
  note(tookMs: number, nowMs: number): void {
    this.#file.slowReads.note(this.cost, tookMs, nowMs)
  }

  #lose(bytes: Uint8Array | ReadFailure, failure?: NumberFailure): CounterOutcome {
    this.value = undefined
    this.saturated = false
    this.#pause = Math.min(2 ** this.#refusals - 1, this.#pauseReadsMax)
    this.#refusals++
    const held = failure === 'not_available' ? NOT_KEPT : undefined
    this.#attributes.absences.settle(
      this.#absentField,
      this.#attributes.value(this.#file, () => held, bytes),
    )
    if (!(bytes instanceof ReadFailure) || bytes.kind !== 'missing') return 'absent'
    this.#wide?.restart()
    return 'missing'
  }
}
