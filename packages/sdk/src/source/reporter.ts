import { SondeError, shown } from '../errors.ts'
import { failValue, parseAddresses, writeText } from '../schema/encoder.ts'
import { recordSource, VIEW_NAMES } from '../schema/encoder-source.ts'
import type { RecordOf, RecordType } from '../schema/record-type.ts'
import type { SourceLabels } from '../schema/source-labels.ts'
import type { SourceTexts } from '../schema/texts.ts'
import { type RecordBuffer, refuseTime } from './buffer.ts'

/** Reports one record. The values are in the order of the names that `reporter` was given. */
export type Reporter<T, N extends readonly (keyof RecordOf<T>)[]> = (
  ...values: { [I in keyof N]: RecordOf<T>[N[I] & keyof RecordOf<T>] }
) => void

/** The calls of a reporter to its source. */
interface ReporterSource {
  readonly labels: SourceLabels
  readonly texts: SourceTexts
  /** Emits the full buffer. */
  send(buffer: RecordBuffer): void
  /** Replaces the full table of labels by an empty table. Returns whether a label fits now. */
  succeed(): boolean
  /** Counts a record that is dropped because its label does not fit. */
  drop(): void
  /** Emits everything and replaces the full table of texts. */
  replaceTexts(): void
  /** Throws, because the source is closed. */
  refuse(): void
}

/**
 * Generates the function of `reporter`: the code of the encoder, with arguments in place of members, which writes to
 * the buffer of its type. It looks nothing up and allocates no object.
 *
 * @throws SondeError `SRC_REPORTER` if a name is unknown or comes twice, or a required field is missing.
 */
export function makeReporter<T, const N extends readonly (keyof RecordOf<T> & string)[]>(
  buffer: RecordBuffer,
  names: N,
  source: ReporterSource,
): Reporter<T, N> {
  checkFields(buffer.type, names)
  const { code, constants } = reporterSource(buffer, names)
  const make = new Function(
    'names',
    'buffer',
    'source',
    'symbols',
    'texts',
    'fail',
    'text',
    'addresses',
    'refuseTime',
    code,
  )
  const { labels, texts } = source
  return make(constants, buffer, source, labels, texts, failValue, writeText, parseAddresses, refuseTime) as Reporter<
    T,
    N
  >
}

function reporterSource(
  { type, recordBytes, capacity, timeHighAt, earliestHigh }: RecordBuffer,
  names: readonly string[],
) {
  const given = names.map((_, i) => `a${i}`).join(',')
  const expressionOf = (field: string) => (names.includes(field) ? `a${names.indexOf(field)}` : undefined)
  const {
    state,
    body,
    hasTexts,
    names: constants,
  } = recordSource(type, { expressionOf, leave: `if(source.succeed())return report(${given});source.drop();return;` })
  const checkTime =
    timeHighAt < 0 ? '' : `if(data.getUint32(o+${timeHighAt},true)<${earliestHigh})refuseTime(buffer,o);`
  const code = `"use strict";${state}const ${VIEW_NAMES}=buffer.views;
return function report(${given}){
if(buffer.isClosed)source.refuse();
${hasTexts ? 'if(texts.isFull)source.replaceTexts();' : ''}
const o=buffer.count*${recordBytes};
${body}
${checkTime}
if(++buffer.count===${capacity})source.send(buffer);
}`
  return { code, constants }
}

function checkFields({ name: type, fields }: RecordType, names: readonly string[]): void {
  const has = `it has: ${Object.keys(fields).join(', ')}`
  if (!Array.isArray(names)) {
    throw new SondeError('SRC_REPORTER', `a reporter of ${type} was given ${shown(names)}; allowed: names of fields`)
  }
  for (const [i, name] of names.entries()) {
    if (!Object.hasOwn(fields, name)) {
      throw new SondeError('SRC_REPORTER', `a reporter of ${type} names ${shown(name)}, which is no field; ${has}`)
    }
    if (names.indexOf(name) < i) throw new SondeError('SRC_REPORTER', `a reporter of ${type} names ${name} twice`)
  }
  const missing = Object.keys(fields).filter((name) => fields[name]?.optional === false && !names.includes(name))
  if (missing.length === 0) return
  throw new SondeError(
    'SRC_REPORTER',
    `a reporter of ${type} does not name ${missing.join(', ')}; only optional fields may be left out`,
  )
}
