import { createHmac } from 'node:crypto'
import { SondeError } from '@sonde/sdk'
import { messageOf, readSecret } from '@sonde/sdk/internal'
import type { Receiver } from './receivers.ts'
import { convoxKeys, standardKeys } from './signing-keys.ts'

/** Where the keys are. They are read before each delivery, so that a rotation needs no restart. */
export interface SigningOptions {
  /** File or variable with the secrets of Standard Webhooks of all receivers without their own. */
  readonly secretFile?: string | undefined
  readonly secretEnv?: string | undefined
  /** File or variable with the keys of `Convox-Signature`. */
  readonly signingKeyFile?: string | undefined
  readonly signingKeyEnv?: string | undefined
  /** Name of the header with that signature. */
  readonly signatureHeader: string
}

/** A message that is signed. */
export interface SignedMessage {
  readonly id: string
  /** Time of the attempt. Unit: seconds since the Unix epoch. */
  readonly timestampS: number
  readonly body: string
}

/** The keys of a receiver. */
export interface SigningKeys {
  readonly standard: readonly Buffer[]
  readonly convox: readonly Buffer[]
}

/**
 * Reads the keys of a receiver; none where none are configured.
 *
 * @throws SondeError `WHK_KEYS` if keys are configured and cannot be used. Then nothing may be sent.
 */
export function readSigningKeys(options: SigningOptions, receiver: Receiver): SigningKeys {
  const hasOwn = receiver.secretFile !== undefined || receiver.secretEnv !== undefined
  const { secretFile, secretEnv } = hasOwn ? receiver : options
  const { signingKeyFile, signingKeyEnv } = options
  const secret = textOf(() => readSecret('secret', { secretFile, secretEnv }))
  const signingKey = textOf(() => readSecret('signingKey', { signingKeyFile, signingKeyEnv }))
  return {
    standard: secret === undefined ? [] : standardKeys(secret),
    convox: signingKey === undefined ? [] : convoxKeys(signingKey),
  }
}

/**
 * The headers of a message: its id and time, and the signatures of each kind that has keys. Each key signs once, so
 * that a receiver may verify with an old or a new key during a rotation.
 */
export function signatureHeaders(
  { standard, convox }: SigningKeys,
  { id, timestampS, body }: SignedMessage,
  header: string,
): Record<string, string> {
  const sign = (key: Buffer, content: string, form: 'base64' | 'hex') =>
    `v1${form === 'hex' ? '=' : ','}${createHmac('sha256', key).update(content).digest(form)}`
  const ofStandard = standard.map((key) => sign(key, `${id}.${timestampS}.${body}`, 'base64'))
  const ofConvox = convox.map((key) => sign(key, `${timestampS}.${body}`, 'hex'))
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    ...(ofStandard.length > 0 && { 'webhook-signature': ofStandard.join(' ') }),
    ...(ofConvox.length > 0 && { [header]: [`t=${timestampS}`, ...ofConvox].join(',') }),
  }
}

function textOf(read: () => string | undefined): string | undefined {
  try {
    return read()
  } catch (cause) {
    throw new SondeError('WHK_KEYS', `signing keys cannot be read: ${messageOf(cause)}`, { cause })
  }
}
