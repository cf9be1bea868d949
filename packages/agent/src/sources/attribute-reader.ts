import { SondeError } from '@sonde/sdk'
import { type FieldAbsences, Missing } from './field-absences.ts'
import { type KernelFile, ReadFailure } from './kernel-file.ts'
import { KernelText } from './kernel-text.ts'
import type { SourceContext } from './source.ts'

/**
 * Parses the content of a file. Returns a missing value if the file says that there is no value, `undefined` if the
 * content is malformed.
 */
export type ParseAttribute<T> = (bytes: Uint8Array) => T | Missing | undefined

/** Explains to people why a file could not be read. */
export type ExplainFailure = (failure: ReadFailure, file: KernelFile) => string

/**
 * Reads the fields of one series, each from its own file. Reports why a field has no value. A file that the driver
 * lacks or refuses to show is not a failure. A failed read or malformed content is a failure, counted with the path of
 * the file.
 */
export class AttributeReader {
  readonly absences: FieldAbsences
  readonly #context: Pick<SourceContext, 'failed'>
  readonly #explain: ExplainFailure

  /** @param explain Explains a file that could not be read. Default: the words of the failure. */
  constructor(
    context: Pick<SourceContext, 'failed'>,
    absences: FieldAbsences,
    explain: ExplainFailure = ({ words }) => words,
  ) {
    this.absences = absences
    this.#context = context
    this.#explain = explain
  }

  /** Reads the value of a field. Returns `undefined` and reports the field as absent if there is no value. */
  read<T>(field: string, file: KernelFile, parse: ParseAttribute<T>): T | undefined {
    return this.absences.settle(field, this.value(file, parse))
  }

  /** Reads a value, or why it is missing, without reporting an absence. `bytes`: content that was read before. */
  value<T>(file: KernelFile, parse: ParseAttribute<T>, bytes: Uint8Array | ReadFailure = file.read()): T | Missing {
    if (bytes instanceof ReadFailure) {
      if (bytes.kind === 'failed') this.#context.failed(file.path, bytes.error)
      return new Missing(bytes.code, this.#explain(bytes, file))
    }
    return parse(bytes) ?? this.wrong(file, wrongWords(bytes))
  }

  /** Counts a file with malformed content; `what` continues a sentence that starts with its path. */
  wrong(file: KernelFile, what: string): Missing {
    const error = new SondeError('SRC_READ', `${file.path} ${what}`)
    this.#context.failed(file.path, error)
    return new Missing('failed', error.message)
  }
}

/** Describes malformed content; continues a sentence that starts with the path of the file. */
export function wrongWords(bytes: Uint8Array): string {
  if (bytes.length === 0) return 'is empty'
  return `holds something else than expected: ${JSON.stringify(new KernelText(bytes).lineFrom(0))}`
}
