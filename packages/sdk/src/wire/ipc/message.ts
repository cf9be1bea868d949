import { SondeError } from '../../errors.ts'
import { type JsonObject, JsonReader } from '../../internal/json-reader.ts'
import { faultOfSource } from '../../schema/source-rules.ts'
import type {
  Ack,
  Attach,
  Attached,
  Challenge,
  ErrorMessage,
  Hello,
  ServiceLimits,
  SourceEntry,
  TypeEntry,
  Untaken,
  Welcome,
} from './frame.ts'
import { checkJson } from './json-limits.ts'

/** Unknown keys are ignored, so that a later version may add keys. */
const read = new JsonReader((message) => new SondeError('IPC_FRAME', message))

const U32_MAX = 0xffff_ffff
const U64_MAX = 2n ** 64n - 1n
/** Types in one frame at most; the definitions bound the frame long before. */
const TYPE_COUNT_MAX = 65_536
const NAME_CHARACTERS_MAX = 200
const TEXT_CHARACTERS_MAX = 4096

/** The payload of a frame as JSON. */
export function parseJson(kind: string, payload: Uint8Array): unknown {
  checkJson(kind, payload)
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
  } catch (cause) {
    throw new SondeError('IPC_FRAME', `a frame of kind ${kind} is not JSON in UTF-8; both sides must be of Sonde`, {
      cause,
    })
  }
}

export function parseHello(json: unknown): Hello {
  const body = read.object('hello', json)
  const client = clientIn('hello', body)
  const secret = client === 0n && own(body, 'secret') === '' ? '' : secretIn('hello', body, 'secret')
  return {
    protocol: integerIn('hello', body, 'protocol', 0, U32_MAX),
    client,
    secret,
    heard: sequenceIn('hello', body, 'heard'),
    pid: integerIn('hello', body, 'pid', 0, U32_MAX),
    program: textIn('hello', body, 'program', TEXT_CHARACTERS_MAX),
    version: textIn('hello', body, 'version', NAME_CHARACTERS_MAX),
  }
}

export function parseTypes(json: unknown): TypeEntry[] {
  if (!Array.isArray(json) || json.length > TYPE_COUNT_MAX) throw read.wrong('types', json, 'a list of types')
  return json.map((entry: unknown) => {
    const body = read.object('types', entry)
    const fingerprint = textIn('types', body, 'fingerprint', 32)
    if (!/^[0-9a-f]{32}$/.test(fingerprint)) throw read.wrong('types.fingerprint', fingerprint, '32 hex digits')
    return { index: integerIn('types', body, 'index', 0, 0xffff), fingerprint, definition: body.definition }
  })
}

export function parseSource(json: unknown): SourceEntry {
  const body = read.object('source', json)
  const given = {
    id: own(body, 'id'),
    tag: own(body, 'tag'),
    labels: own(body, 'labels'),
  }
  const fault = faultOfSource(given)
  if (fault !== undefined) throw read.wrong(`source.${fault.place}`, fault.given, fault.allowed)
  const { id, tag, labels } = given as Pick<SourceEntry, keyof typeof given>
  return {
    index: integerIn('source', body, 'index', 0, U32_MAX),
    id,
    tag,
    labels: Object.freeze({ ...labels }),
    schema: textIn('source', body, 'schema', TEXT_CHARACTERS_MAX),
    ...(own(body, 'replaces') !== undefined && { replaces: integerIn('source', body, 'replaces', 0, U32_MAX) }),
  }
}

export function parseAttach(json: unknown): Attach {
  const body = read.object('attach', json)
  return {
    file: textIn('attach', body, 'file', TEXT_CHARACTERS_MAX),
    slots: integerIn('attach', body, 'slots', 1, U32_MAX),
    slotBytes: integerIn('attach', body, 'slotBytes', 1, U32_MAX),
  }
}

export function parseWelcome(json: unknown): Welcome {
  const body = read.object('welcome', json)
  const ack = read.oneOf('welcome.ack', body.ack, ['memory', 'durable'])
  const limits = read.object('welcome.limits', body.limits)
  const limit = (key: keyof ServiceLimits, min: number) =>
    integerIn('welcome.limits', limits, key, min, Number.MAX_SAFE_INTEGER)
  return {
    protocol: integerIn('welcome', body, 'protocol', 0, U32_MAX),
    client: clientIn('welcome', body),
    secret: secretIn('welcome', body, 'secret'),
    lastSequence: sequenceIn('welcome', body, 'lastSequence'),
    ...untakenIn('welcome', body),
    ack,
    limits: {
      pageBytes: limit('pageBytes', 1),
      types: limit('types', 0),
      sources: limit('sources', 0),
      symbols: limit('symbols', 0),
      clientBytes: limit('clientBytes', 1),
    },
  }
}

export function parseChallenge(json: unknown): Challenge {
  return { nonce: secretIn('challenge', read.object('challenge', json), 'nonce') }
}

export function parseAttached(json: unknown): Attached {
  const body = read.object('attached', json)
  if (typeof body.ok !== 'boolean') throw read.wrong('attached.ok', body.ok, 'true or false')
  return { ok: body.ok, reason: textIn('attached', body, 'reason', TEXT_CHARACTERS_MAX) }
}

export function parseAck(json: unknown): Ack {
  const body = read.object('ack', json)
  return { sequence: sequenceIn('ack', body, 'sequence'), ...untakenIn('ack', body) }
}

export function parseError(json: unknown): ErrorMessage {
  const body = read.object('error', json)
  return {
    code: textIn('error', body, 'code', NAME_CHARACTERS_MAX),
    message: textIn('error', body, 'message', TEXT_CHARACTERS_MAX),
  }
}

/** A message that says nothing but its kind. */
export function parseEmpty(kind: string, json: unknown): Readonly<Record<string, never>> {
  read.object(kind, json)
  return {}
}

function integerIn(place: string, body: JsonObject, key: string, min: number, max: number): number {
  return read.integer(`${place}.${key}`, own(body, key), min, max)
}

function textIn(place: string, body: JsonObject, key: string, charactersMax: number): string {
  return read.text(`${place}.${key}`, own(body, key), charactersMax)
}

function sequenceIn(place: string, body: JsonObject, key: string): bigint {
  const text = textIn(place, body, key, 20)
  const value = /^\d+$/.test(text) ? BigInt(text) : undefined
  if (value === undefined || value > U64_MAX) throw read.wrong(`${place}.${key}`, text, 'a decimal number of 64 bits')
  return value
}

function clientIn(place: string, body: JsonObject): bigint {
  const text = textIn(place, body, 'client', 16)
  if (!/^[0-9a-f]+$/.test(text)) throw read.wrong(`${place}.client`, text, 'a number of 64 bits in hex')
  return BigInt(`0x${text}`)
}

/** The message does not repeat the value, because it reaches logs. */
function secretIn(place: string, body: JsonObject, key: string): string {
  const value = own(body, key)
  if (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) return value
  throw new SondeError('IPC_FRAME', `${place}.${key} is something else than 64 hex digits`)
}

function untakenIn(place: string, body: JsonObject): Untaken {
  return { dropped: countsIn(place, body, 'dropped'), hidden: countsIn(place, body, 'hidden') }
}

function countsIn(message: string, body: JsonObject, key: keyof Untaken): Readonly<Record<string, number>> {
  const place = `${message}.${key}`
  const counts = read.object(place, own(body, key))
  for (const reason of Object.keys(counts)) {
    if (!/^[a-z]+(_[a-z]+)*$/.test(reason) || reason.length > NAME_CHARACTERS_MAX) {
      throw read.wrong(place, reason, 'a reason of small letters and _')
    }
    integerIn(place, counts, reason, 0, Number.MAX_SAFE_INTEGER)
  }
  return counts as Readonly<Record<string, number>>
}

function own(body: JsonObject, key: string): unknown {
  return Object.hasOwn(body, key) ? body[key] : undefined
}
