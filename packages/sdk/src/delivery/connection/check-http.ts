import { shownUrl } from '../../config/secret.ts'
import { messageOf } from '../../errors.ts'
import type { HttpOptions } from './config.ts'
import { HttpAgent } from './http-agent.ts'
import { httpCredentials } from './http-credentials.ts'
import { OptionFault, optionFault } from './option-fault.ts'
import { checkCompression } from './pack-body.ts'
import { readTls } from './tls.ts'

/** How long one connection may take. Unit: milliseconds. */
const LIMIT_MS = 5000

/** What `sonde check` says of a destination. */
export interface ConnectionFinding {
  /** `configured`: it was not tried. */
  readonly state: 'configured' | 'present' | 'denied'
  /** What and where, or why not, as a part of a sentence. No secret. */
  readonly found: string
}

/** @throws OptionFault for the first option that cannot be used on this machine, or that conflicts with another. */
export function checkHttp(options: HttpOptions): void {
  const { url, endpoints = [], tls = {} } = options
  readTls(tls)
  const { verify = true, caFile, certFile, serverName } = tls
  const isUsed = [url, ...endpoints].some((address) => address.startsWith('https:'))
  if (!isUsed && !(verify && [caFile, certFile, serverName].every((each) => each === undefined)))
    throw new OptionFault('tls', 'is given', 'nothing, because no address begins with https:')
  httpCredentials(new URL(url), options)
  checkCompression(options.compression)
}

/** That fault, for `SinkDefinition.refuse`. */
export function faultOfHttp(options: HttpOptions): OptionFault | undefined {
  return optionFault(() => checkHttp(options))
}

/** The addresses of a destination. Connects nowhere. */
export function lookAtHttp({ url, endpoints = [] }: HttpOptions): ConnectionFinding {
  return configured([url, ...endpoints].map(shownUrl))
}

/** The finding about addresses that were not tried. */
export function configured(addresses: readonly string[]): ConnectionFinding {
  const found = `sends to ${addresses.join(', then ')}; --try-destinations opens a connection`
  return { state: 'configured', found }
}

/** Opens one connection to each address, with TLS and proxy, and closes it. Sends no request. Never rejects. */
export function tryHttp(options: HttpOptions): Promise<ConnectionFinding> {
  const attempts = [options.url, ...(options.endpoints ?? [])].map((address) => ({
    shown: shownUrl(address),
    open: async (signal: AbortSignal) => {
      const socket = await new HttpAgent(new URL(address), options).open(signal)
      socket.destroy()
    },
  }))
  return tryAddresses(attempts)
}

/** An address of a destination, and how a connection to it is opened once and closed. */
export interface Attempt {
  /** The address without secrets. */
  readonly shown: string
  readonly open: (signal: AbortSignal) => Promise<void>
}

/** Opens each connection once. `denied` if one fails. Never rejects. */
export async function tryAddresses(attempts: readonly Attempt[]): Promise<ConnectionFinding> {
  const faults: string[] = []
  for (const { shown, open } of attempts) {
    const signal = AbortSignal.timeout(LIMIT_MS)
    try {
      await open(signal)
    } catch (error) {
      faults.push(`${shown}: ${signal.aborted ? `no connection within ${LIMIT_MS} ms` : messageOf(error)}`)
    }
  }
  if (faults.length > 0) return { state: 'denied', found: faults.join('; ') }
  return { state: 'present', found: `${attempts.map(({ shown }) => shown).join(' and ')} can be reached` }
}
