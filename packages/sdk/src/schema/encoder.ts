import { SondeError, shown } from '../errors.ts'
import { recordSource, VIEW_NAMES } from './encoder-source.ts'
import type { Fields, RecordType } from './record-type.ts'
import type { LabelIds } from './source-labels.ts'
import type { TextIds } from './texts.ts'
import type { Views } from './views.ts'

/**
 * Writes one record at a byte offset. Throws `SRC_VALUE` before the record counts as written. False if the text of a
 * label found the symbol table full: the record is not written then.
 */
export type Encode = (record: object, views: Views, offset: number) => boolean

type Factory = (symbols: LabelIds, texts: TextIds) => Encode

const factories = new WeakMap<RecordType, Factory>()
let factoryCount = 0

/**
 * The encoder of a type for one writer. Its code is generated once a type: straight stores into typed arrays (or a
 * DataView in a packed layout), which is some ten times faster than a loop over fields.
 *
 * @param texts Gives ids to the texts of text fields, and says when ids of labels begin anew too. Default: `symbols`,
 * where all stay for good.
 */
export function encoderOf(type: RecordType<Fields>, symbols: LabelIds, texts: TextIds = symbols): Encode {
  let factory = factories.get(type)
  if (factory === undefined) {
    factory = makeFactory(type)
    factories.set(type, factory)
  }
  return factory(symbols, texts)
}

function makeFactory(type: RecordType): Factory {
  const { state, body, names } = recordSource(type)
  // The number makes the code unlike that of any other type. V8 shares what it learns of the names that are read among
  // functions of the same code.
  const code = `"use strict";const typeName=names[${names.length}];${state}
return function encode${++factoryCount}(r,v,o){
if(r===null||typeof r!=='object')fail(typeName,r,'a record');
const ${VIEW_NAMES}=v;
${body}
return true
}`
  const make = new Function('names', 'symbols', 'texts', 'fail', 'text', code)
  const constants = [...names, type.name]
  return (symbols, texts) => make(constants, symbols, texts, failValue, writeText)
}

/** @throws SondeError `SRC_VALUE`. */
export function failValue(place: string, given: unknown, allowed: string): never {
  throw new SondeError('SRC_VALUE', `${place} was given ${shown(given)}; allowed: ${allowed}`)
}

const utf8 = new TextEncoder()

/** Writes text into `char[n]`. */
export function writeText(place: string, given: unknown, bytes: Uint8Array, offset: number, room: number): void {
  if (typeof given !== 'string') failValue(place, given, 'text')
  let at = offset
  const end = offset + room
  for (let i = 0; i < given.length; i++) {
    const code = given.charCodeAt(i)
    if (code > 0x7f || code === 0 || at >= end - 1) {
      writeWideText(place, given, bytes, offset, room)
      return
    }
    bytes[at++] = code
  }
  bytes.fill(0, at, end)
}

/** Anything but short ASCII: whole characters only, and an error rather than a silent cut, at the end or at a NUL. */
function writeWideText(place: string, given: string, bytes: Uint8Array, offset: number, room: number): void {
  const encoded = utf8.encode(given)
  if (encoded.length > room - 1 || encoded.includes(0)) {
    failValue(place, given, `at most ${room - 1} bytes of UTF-8 without NUL`)
  }
  bytes.set(encoded, offset)
  bytes.fill(0, offset + encoded.length, offset + room)
}
