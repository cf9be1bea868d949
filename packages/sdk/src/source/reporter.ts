import { SondeError, shown } from '../errors.ts'
import { failValue, writeText } from '../schema/encoder.ts'
import { recordSource, VIEW_NAMES } from '../schema/encoder-source.ts'
import type { RecordOf, RecordType } from '../schema/record-type.ts'
import type { SourceLabels } from '../schema/source-labels.ts'
import type { SourceTexts } from '../schema/texts.ts'
import { type RecordBuffer, refuseTime } from './buffer.ts'

/** Reports one record of the values of some fields, in the order in which they were named. */
export type Reporter<T, N extends readonly (keyof RecordOf<T>)[]> = (
  ...values: { [I in keyof N]: RecordOf<T>[N[I] & keyof RecordOf<T>] }
) => void

/** What a reporter asks of its source. */
interface ReporterSource {
  readonly labels: SourceLabels
  readonly texts: SourceTexts
  /** Emits the buffer, which is full. */
  send(buffer: RecordBuffer): void
  /** Goes on with an empty table of labels, which is full. Whether there is room now. */
  succeed(): boolean
  /** Counts a record whose label found no room. */
  drop(): void
  /** Emits everything and replaces the table of texts, which is full. */
  replaceTexts(): void
  /** Throws, since the source is closed. */
  refuse(): void
}

/**
 * Generates the function of `reporter`: the encoder's code with arguments in place of members, storing into the one
 * buffer of its type. Nothing is looked up, and no object is made.
 *
 * @throws SondeError `SRC_REPORTER` if a name is none of a field or comes twice, or a field that is not optional is
 * missing.
 */
export function makeReporter<T, const N extends readonly (keyof RecordOf<T> & string)[]>(
  buffer: RecordBuffer,
  names: N,
  source: ReporterSource,
): Reporter<T, N> {
  checkFields(buffer.type, names)
  const { code, constants } = reporterSource(buffer, names)
  const make = new Function('names', 'buffer', 'source', 'symbols', 'texts', 'fail', 'text', 'refuseTime', code)
  const { labels, texts } = source
  return make(constants, buffer, source, labels, texts, failValue, writeText, refuseTime) as Reporter<T, N>
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
