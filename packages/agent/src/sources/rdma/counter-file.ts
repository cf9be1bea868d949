import { type Integer64, SondeError } from '@sonde/sdk'
import type { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import { isNumber, type NumberFailure } from '../kernel-text.ts'
import type { SourceContext } from '../source.ts'
import { WideCounter } from '../wide-counter.ts'
import type { CounterForm } from './names.ts'
import { parseCounter } from './parse.ts'

/** Sweeps for which a file that was refused is left alone at most. */
const PAUSE_LIMIT = 63

/** What reading a counter came to: `missing` may be that its whole port left. */
export type CounterOutcome = 'read' | 'absent' | 'missing'

/**
 * The file of one counter, and what was last read of it. A file that gives nothing is left alone for a while, longer each time: on restricted functions every read is a command that the
 * firmware refuses and the driver writes into the kernel's log.
 */
export class CounterFile<F extends string> {
  readonly name: string
  readonly form: CounterForm<F>
  value: Integer64 | undefined
  /** Whether it stands at the most that it can hold. */
  saturated = false
  readonly #file: KernelFile
  readonly #context: SourceContext
  readonly #absences: FieldAbsences
  readonly #absentField: string
  readonly #unitBytes: number
  readonly #stuckAt: number
  readonly #wide: WideCounter | undefined
  #pause = 0
  #refusals = 0

  /** @param absentField What is said to be absent: the field, or `''` where there is a series for the counter alone. */
  constructor(
    name: string,
    form: CounterForm<F>,
    file: KernelFile,
    context: SourceContext,
    absences: FieldAbsences,
    absentField: string = form.field,
  ) {
    this.name = name
    this.form = form
    this.#file = file
    this.#context = context
    this.#absences = absences
    this.#absentField = absentField
    this.#unitBytes = form.bytes ?? 1
    this.#stuckAt = form.stuckBits === undefined ? -1 : (2 ** form.stuckBits - 1) * this.#unitBytes
    this.#wide = form.wraps === true ? new WideCounter() : undefined
  }

  /** Reads the counter, or leaves it alone where it was refused before. */
  read(): CounterOutcome {
    if (this.#pause > 0) {
      this.#pause--
      return 'absent'
    }
    const bytes = this.#refusals > 0 ? this.#file.readAnew() : this.#file.read()
    if (bytes instanceof ReadFailure) return this.#refused(bytes)
    const value = parseCounter(bytes, this.#unitBytes)
    if (!isNumber(value)) return this.#wrong(value)
    this.#refusals = 0
    if (this.value === undefined) this.#absences.present(this.#absentField)
    this.value = this.#wide === undefined ? value : this.#wide.next(value)
    this.saturated = value === this.#stuckAt
    return 'read'
  }

  close(): void {
    this.#file.close()
  }

  #refused({ kind, code, error }: ReadFailure): CounterOutcome {
    if (kind === 'failed') this.#context.failed(this.#file.path, error)
    this.#lose()
    this.#absences.absent(this.#absentField, code, error.message)
    if (kind !== 'missing') return 'absent'
    this.#wide?.restart()
    return 'missing'
  }

  #wrong(failure: NumberFailure): CounterOutcome {
    this.#lose()
    if (failure === 'not_available') {
      this.#absences.absent(this.#absentField, 'unsupported', `${this.#file.path}: the port has no such counter (N/A)`)
    } else {
      const reason = `${this.#file.path} holds no counter (${failure})`
      this.#context.failed(this.#file.path, new SondeError('SRC_READ', reason))
      this.#absences.absent(this.#absentField, 'failed', reason)
    }
    return 'absent'
  }

  #lose(): void {
    this.value = undefined
    this.saturated = false
    this.#pause = Math.min(2 ** this.#refusals - 1, PAUSE_LIMIT)
    this.#refusals++
  }
}
