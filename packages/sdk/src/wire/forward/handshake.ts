import { createHash, timingSafeEqual } from 'node:crypto'
import type { Decoded } from './decode.ts'
import { pack } from './msgpack.ts'

/** The first message of a server that wants a shared key. */
export interface Helo {
  readonly nonce: Uint8Array
  /** Salt of the password; empty if the server wants no user. */
  readonly auth: Uint8Array
  /** Whether the connection stays open behind a message. */
  readonly keepalive: boolean
}

/** The client's part of the handshake. */
export interface ForwardCredentials {
  readonly sharedKey: string
  /** Name of this host; a server refuses its own. */
  readonly hostname: string
  readonly username: string
  readonly password: string
}

/** Reads `["HELO", {nonce, auth, keepalive}]`; undefined for another message. */
export function heloOf(message: Decoded): Helo | undefined {
  if (!Array.isArray(message) || message[0] !== 'HELO' || !(message[1] instanceof Map)) return undefined
  const options: ReadonlyMap<string, Decoded> = message[1]
  const nonce = bytesOf(options.get('nonce'))
  const auth = bytesOf(options.get('auth') ?? '')
  if (nonce === undefined || auth === undefined) return undefined
  return { nonce, auth, keepalive: options.get('keepalive') !== false }
}

/** The answer to a server: proves that this client has the key, and the password if the server wants a user. */
export function pingOf({ nonce, auth }: Helo, salt: Uint8Array, credentials: ForwardCredentials): Buffer {
  const { sharedKey, hostname, username, password } = credentials
  const hasUser = auth.length > 0
  return pack([
    'PING',
    hostname,
    salt,
    digest(salt, hostname, nonce, sharedKey),
    hasUser ? username : '',
    hasUser ? digest(auth, username, password) : '',
  ])
}

/**
 * Reads `["PONG", ok, reason, hostname, digest]`. Returns why the connection cannot be used; empty if the server took
 * the key and has it too; undefined for another message.
 */
export function faultOfPong(message: Decoded, { nonce }: Helo, salt: Uint8Array, key: string): string | undefined {
  if (!Array.isArray(message) || message[0] !== 'PONG' || message.length < 5) return undefined
  const [, isTaken, reason, hostname, given] = message
  if (isTaken !== true)
    return `refuses shared key, user or password: ${typeof reason === 'string' ? reason : 'no reason'}`
  const wanted = Buffer.from(typeof hostname === 'string' ? digest(salt, hostname, nonce, key) : '')
  const got = Buffer.from(typeof given === 'string' ? given : '')
  const isEqual = wanted.length > 0 && wanted.length === got.length && timingSafeEqual(wanted, got)
  return isEqual ? '' : 'does not prove that it has the shared key'
}

function digest(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha512')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** Servers send these as binary or as text. */
function bytesOf(value: Decoded | undefined): Uint8Array | undefined {
  return typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : undefined
}
