import * as v from 'valibot'
import { type HttpOptions, httpEntries } from '../../delivery/connection/config.ts'
import { OptionFault } from '../../delivery/connection/option-fault.ts'
import type { Temporality } from '../../wire/otlp/points.ts'
import type { OtlpOptions, OtlpProtocol } from './config.ts'
import {
  type Environment,
  resourceVariables,
  type SignalVariables,
  signalVariables,
  temporalityVariable,
} from './environment.ts'

/** A kind of data with an address of its own. */
export type OtlpSignal = 'metrics' | 'logs'

/** The connection of a signal. */
export interface SignalConnection {
  readonly http: HttpOptions
  readonly protocol: OtlpProtocol
  /** How long one attempt may take. Unit: milliseconds. */
  readonly timeoutMs: number
}

/** All that options and variables say together. */
export interface OtlpTarget {
  readonly metrics: SignalConnection
  readonly logs: SignalConnection
  readonly temporality: Temporality
  readonly resource: Readonly<Record<string, string>>
}

/** Where a receiver on this machine listens, as the specification has it. */
const USUAL_URL = 'http://127.0.0.1:4318'
const TIMEOUT_MS = 10_000

/**
 * The target of options and variables. An option wins over the variable of a signal, that one over the variable for all
 * signals, and this over the default. Pure.
 *
 * @throws OptionFault if a variable has no allowed value.
 */
export function targetOf(options: OtlpOptions, environment: Environment): OtlpTarget {
  return {
    metrics: signalOptions(options, signalVariables(environment, 'metrics'), 'metrics'),
    logs: signalOptions(options, signalVariables(environment, 'logs'), 'logs'),
    temporality: options.temporality ?? temporalityVariable(environment) ?? 'cumulative',
    resource: { ...resourceVariables(environment), ...options.resource },
  }
}

function signalOptions(options: OtlpOptions, variables: SignalVariables, signal: OtlpSignal): SignalConnection {
  const { endpoints = [], headers, tls = {}, compression } = options
  const url = options.url === undefined ? urlOf(variables, signal) : signalAddress(options.url, signal)
  const isEncrypted = url.startsWith('https:')
  const { caFile, certFile, keyFile } = isEncrypted ? variables : {}
  const http: HttpOptions = {
    ...options,
    url,
    endpoints: endpoints.map((each) => signalAddress(each, signal)),
    headers: headers === undefined || Object.keys(headers).length === 0 ? headersOf(variables) : headers,
    compression: compression ?? (variables.compression as HttpOptions['compression']) ?? 'none',
    tls: {
      ...tls,
      ...(tls.caFile === undefined && caFile !== undefined ? { caFile } : {}),
      ...(tls.certFile === undefined && certFile !== undefined ? { certFile } : {}),
      ...(tls.keyFile === undefined && keyFile !== undefined ? { keyFile } : {}),
    },
  }
  return {
    http,
    protocol: options.protocol ?? (variables.protocol as OtlpProtocol | undefined) ?? 'http/protobuf',
    timeoutMs: options.timeoutMs ?? variables.timeoutMs ?? TIMEOUT_MS,
  }
}

/** The address of a signal below that of a receiver. */
export function signalAddress(server: string, signal: OtlpSignal): string {
  const address = new URL(server)
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/v1/${signal}`
  return address.href
}

function urlOf({ signalUrl, url }: SignalVariables, signal: OtlpSignal): string {
  const given = signalUrl ?? url
  if (given === undefined) return signalAddress(USUAL_URL, signal)
  const variable =
    signalUrl === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : `OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`
  if (!v.safeParse(httpEntries.url, given).success)
    throw new OptionFault(
      'url',
      `cannot be read from ${variable}`,
      'an address of http: or https: without name and password',
    )
  return signalUrl === undefined ? signalAddress(given, signal) : given
}

function headersOf({ headers = {} }: SignalVariables): Readonly<Record<string, string>> {
  const checked = v.safeParse(httpEntries.headers, headers)
  if (checked.success) return headers
  throw new OptionFault(
    'headers',
    'cannot be used as OTEL_EXPORTER_OTLP_HEADERS has them',
    'headers by name, one line of ASCII each',
  )
}
