import { SondeError } from '@sonde/sdk'
import { type FieldAbsences, Lack } from './field-absences.ts'
import { type KernelFile, ReadFailure } from './kernel-file.ts'
import { KernelText } from './kernel-text.ts'
import type { SourceContext } from './source.ts'

/**
 * What a file holds; a {@link Lack} where it says itself that there is no value, `undefined` if it holds something
 * else than it should.
 */
export type ParseAttribute<T> = (bytes: Uint8Array) => T | Lack | undefined

/** Why a file that could not be read gives no value, for people. */
export type ExplainFailure = (failure: ReadFailure, file: KernelFile) => string

/**
 * Reads the fields of one series that are a file each. Of a field without a value it says why. A driver that has no
 * such file or refuses to show it is none of its failures; a read that fails, and a file that holds something else than
 * it should, is one, and is counted with the path of the file.
 */
export class AttributeReader {
  readonly absences: FieldAbsences
  readonly #context: Pick<SourceContext, 'failed'>
  readonly #explain: ExplainFailure

  /** @param explain Words for a file that could not be read. Default: those of the failure. */
  constructor(
    context: Pick<SourceContext, 'failed'>,
    absences: FieldAbsences,
    explain: ExplainFailure = ({ words }) => words,
  ) {
    this.absences = absences
    this.#context = context
    this.#explain = explain
  }

  /** What a file holds, for a field; `undefined` if the field is said to be absent. */
  read<T>(field: string, file: KernelFile, parse: ParseAttribute<T>): T | undefined {
    return this.absences.settle(field, this.value(file, parse))
  }

  /**
   * What a file holds, or why it gives nothing; no field is said to be anything yet. `bytes`: what was read of it
   * already.
   */
  value<T>(file: KernelFile, parse: ParseAttribute<T>, bytes: Uint8Array | ReadFailure = file.read()): T | Lack {
    if (bytes instanceof ReadFailure) {
      if (bytes.kind === 'failed') this.#context.failed(file.path, bytes.error)
      return new Lack(bytes.code, this.#explain(bytes, file))
    }
    return parse(bytes) ?? this.wrong(file, wrongWords(bytes))
  }

  /** Counts a file that holds what it should not; `what` ends a sentence that starts with its path. */
  wrong(file: KernelFile, what: string): Lack {
    const error = new SondeError('SRC_READ', `${file.path} ${what}`)
    this.#context.failed(file.path, error)
    return new Lack('failed', error.message)
  }
}

/** What is wrong with what a file holds: the end of a sentence that starts with its path. */
export function wrongWords(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'is empty'
  return `holds something else than expected: ${JSON.stringify(new KernelText(bytes).lineFrom(0))}`
}
