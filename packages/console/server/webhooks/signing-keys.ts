import { SondeError } from '@sonde/sdk'

/** Most keys that sign at the same time: old and new ones during a rotation. */
const KEY_COUNT_MAX = 4
/** Least Shannon entropy of the bytes of a key: patterns and repeated bytes have less. Unit: bits a byte. */
const ENTROPY_BITS_MIN = 3.5
const HEX_LENGTH = { min: 64, max: 4096 } as const
const SECRET_BYTES = { min: 24, max: 64 } as const

/** What a list of keys is called, and the form of one of them. */
interface KeyForm {
  /** A key as bytes; undefined if its text has not this form. */
  decode(text: string): Buffer | undefined
  /** The form in words. */
  readonly allowed: string
}

const STANDARD: KeyForm = {
  allowed: `whsec_ and base64 of ${SECRET_BYTES.min} to ${SECRET_BYTES.max} random bytes`,
  decode(text) {
    const [, base64] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text) ?? []
    if (base64 === undefined) return undefined
    const key = Buffer.from(base64, 'base64')
    const isWhole = key.toString('base64').replaceAll('=', '') === base64.replaceAll('=', '')
    return isWhole && key.length >= SECRET_BYTES.min && key.length <= SECRET_BYTES.max ? key : undefined
  },
}

const CONVOX: KeyForm = {
  allowed: `an even number of ${HEX_LENGTH.min} to ${HEX_LENGTH.max} lowercase hexadecimal digits, random ones`,
  decode(text) {
    const isForm = /^([0-9a-f]{2})+$/.test(text) && text.length >= HEX_LENGTH.min && text.length <= HEX_LENGTH.max
    return isForm ? Buffer.from(text, 'hex') : undefined
  },
}

/**
 * The keys of Standard Webhooks in a text: `whsec_…`, several with commas between them.
 *
 * @throws SondeError `WHK_KEYS`. The message names the key by its place and repeats nothing of it.
 */
export function standardKeys(text: string): readonly Buffer[] {
  return keysOf(text, STANDARD)
}

/**
 * The keys of `Convox-Signature` in a text: hexadecimal, several with commas between them. A key is the decoded bytes.
 *
 * @throws SondeError `WHK_KEYS`
 */
export function convoxKeys(text: string): readonly Buffer[] {
  return keysOf(text, CONVOX)
}

function keysOf(text: string, { decode, allowed }: KeyForm): readonly Buffer[] {
  const parts = text.split(',').map((part) => part.trim())
  if (parts.length > KEY_COUNT_MAX)
    throw new SondeError('WHK_KEYS', `there are ${parts.length} signing keys; allowed: at most ${KEY_COUNT_MAX}`)
  return parts.map((part, index) => {
    const key = decode(part)
    const place = `signing key ${index + 1} of ${parts.length}`
    if (key === undefined) throw new SondeError('WHK_KEYS', `${place} has a wrong form; allowed: ${allowed}`)
    if (entropyBits(key) < ENTROPY_BITS_MIN)
      throw new SondeError('WHK_KEYS', `${place} is a pattern that can be guessed; allowed: ${allowed}`)
    return key
  })
}

/** Shannon entropy of bytes. Unit: bits a byte. */
function entropyBits(bytes: Buffer): number {
  const counts = Map.groupBy(bytes, (byte) => byte)
  const shares = [...counts.values()].map(({ length }) => length / bytes.length)
  return -shares.reduce((sum, share) => sum + share * Math.log2(share), 0)
}
