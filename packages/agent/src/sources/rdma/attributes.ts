import { SondeError } from '@sonde/sdk'
import type { FieldAbsences } from '../field-absences.ts'
import { type KernelFile, ReadFailure } from '../kernel-file.ts'
import type { SourceContext } from '../source.ts'

/** Reads attributes of one port; of each that cannot be had it says why. */
export class Attributes {
  readonly absences: FieldAbsences
  readonly #context: SourceContext

  constructor(context: SourceContext, absences: FieldAbsences) {
    this.#context = context
    this.absences = absences
  }

  /** What a file holds, for a field. */
  read<T>(field: string, file: KernelFile, parse: (bytes: Uint8Array) => T | undefined): T | undefined {
    return this.take(field, file, file.read(), parse)
  }

  /** What was read of a file, for a field. */
  take<T>(
    field: string,
    file: KernelFile,
    bytes: Uint8Array | ReadFailure,
    parse: (bytes: Uint8Array) => T | undefined,
  ): T | undefined {
    if (bytes instanceof ReadFailure) {
      this.count(bytes, file.path)
      this.absences.absent(field, bytes.code, bytes.error.message)
      return undefined
    }
    const value = parse(bytes)
    if (value !== undefined) this.absences.present(field)
    else this.absences.absent(field, 'failed', this.wrong(file.path))
    return value
  }

  /** Counts a failure that is one. */
  count({ kind, error }: ReadFailure, place: string): void {
    if (kind === 'failed') this.#context.failed(place, error)
  }

  /** Counts a file that holds what it should not; the reason in words. */
  wrong(path: string): string {
    const reason = `${path} holds something else than expected`
    this.#context.failed(path, new SondeError('SRC_READ', reason))
    return reason
  }
}
