import { hostname } from 'node:os'
import * as v from 'valibot'
import { boundedText, choice, flag, pattern, setting } from '../../config/kit.ts'
import { type DeliveryLimits, deliveryEntries } from '../../delivery/config.ts'
import { type SocketOptions, socketEntries } from '../../delivery/connection/config.ts'
import { OptionFault } from '../../delivery/connection/option-fault.ts'
import { readSecret, type SecretOptions, secretEntries } from '../../delivery/connection/secret-source.ts'
import { readTls } from '../../delivery/connection/tls.ts'
import type { PushSinkOptions } from '../../delivery/push-sink-options.ts'
import type { ForwardCredentials } from '../../wire/forward/handshake.ts'
import type { ForwardMode } from '../../wire/forward/message.ts'
import type { RecordLayout } from '../../wire/forward/template.ts'

/** The connection to a server of Fluent Forward, and the form of the messages. */
export interface ForwardOptions extends SocketOptions, SecretOptions<'sharedKey'>, SecretOptions<'password'> {
  /** Path of a Unix socket instead of host and port. Default: none. */
  readonly path?: string | undefined
  /**
   * Tag of the events; `{type}` and `{source}` stand for the names of record type and source. Default: `sonde.{type}`.
   */
  readonly tag?: string
  /** How events travel. Default: `packed_forward`. */
  readonly mode?: ForwardMode
  /** How a record lies in an event. Default: `flb_std`. */
  readonly layout?: RecordLayout
  /** How events are packed; `gzip` only in mode `packed_forward`. Default: `none`. */
  readonly compression?: 'none' | 'gzip'
  /** Whether the receiver must acknowledge each message. Default: true. */
  readonly requireAck?: boolean
  /** Name for a server that wants a user; `password` is its secret. Default: none. */
  readonly username?: string | undefined
  /** Name of this host in the handshake. Default: that of the machine. */
  readonly selfHostname?: string | undefined
}

/** Options of {@link createFluentBit}: its own, and the limits that every push sink has. */
export interface FluentBitOptions extends DeliveryLimits, ForwardOptions, PushSinkOptions {}

/** Schema entries of {@link ForwardOptions}. */
export const forwardEntries = {
  ...socketEntries({ host: '127.0.0.1', port: 24_224 }),
  path: v.optional(v.pipe(boundedText(1, 100), v.description('Path of a Unix socket, instead of `host` and `port`'))),
  tag: setting(
    pattern(/^[!-~\u00a1-\uffff]{1,256}$/, 'a tag without blanks, at most 256 characters'),
    'sonde.{type}',
    'Tag of the events; `{type}` and `{source}` stand for the names of record type and source',
  ),
  mode: setting(
    choice(['packed_forward', 'forward', 'message']),
    'packed_forward',
    'How events travel: many as bytes, many as an array, each alone',
  ),
  layout: setting(
    choice(['flb_std', 'custom']),
    'flb_std',
    'How a record lies in an event: one flat map, or its fields in the map `values`',
  ),
  compression: setting(
    choice(['none', 'gzip']),
    'none',
    'How events are packed; `gzip` only in mode `packed_forward`. Fluent Bit before 2.2 does not take it everywhere',
  ),
  requireAck: setting(
    flag(),
    true,
    'Whether the receiver must acknowledge each message. Without that, records on the way are lost with the connection, and nothing counts them',
  ),
  ...secretEntries('sharedKey', 'the key that both ends have'),
  username: v.optional(
    v.pipe(boundedText(1, 256), v.description('Name for a server that wants a user beside the key')),
  ),
  ...secretEntries('password', 'the password of `username`'),
  selfHostname: v.optional(
    v.pipe(
      pattern(/^[A-Za-z0-9_.:-]{1,253}$/, 'a host name'),
      v.description('Name of this host in the handshake; a server refuses its own. Default: that of the machine'),
    ),
  ),
}

/** Keys of this destination in a configuration. */
export const fluentBitEntries = { ...forwardEntries, ...deliveryEntries }

/** @throws OptionFault for the first option that cannot be used on this machine, or that conflicts with another. */
export function checkForward(options: ForwardOptions): void {
  const { path, endpoints = [], tls = {}, mode = 'packed_forward', compression = 'none', username } = options
  const { enabled = false, ...files } = tls
  if (compression !== 'none' && mode !== 'packed_forward')
    throw new OptionFault('compression', `is "${compression}" in mode ${mode}`, 'none, or the mode packed_forward')
  if (path !== undefined && endpoints.length > 0)
    throw new OptionFault('endpoints', 'is given beside path', 'one of the two')
  if (path !== undefined && enabled) throw new OptionFault('tls.enabled', 'is true for a Unix socket', 'false')
  const isUsed = files.verify !== false && [files.caFile, files.certFile, files.serverName].every((each) => !each)
  if (!enabled && !isUsed) throw new OptionFault('tls', 'is given, but not enabled', 'tls.enabled: true')
  readTls(files)
  const { sharedKey } = readForwardCredentials(options) ?? {}
  if (username !== undefined && sharedKey === undefined)
    throw new OptionFault('username', 'is given without a key', 'a sharedKey, which the handshake needs')
}

/**
 * The credentials as they are now; undefined without a key: then there is no handshake.
 *
 * @throws OptionFault if a file or a variable cannot be read, or a name lacks its password.
 */
export function readForwardCredentials(options: ForwardOptions): ForwardCredentials | undefined {
  const { username, selfHostname = hostname() } = options
  const sharedKey = readSecret('sharedKey', options)
  const password = readSecret('password', options)
  if (username !== undefined && password === undefined)
    throw new OptionFault('password', 'is missing', 'the password of username')
  if (sharedKey === undefined) return undefined
  return { sharedKey, hostname: selfHostname, username: username ?? '', password: password ?? '' }
}
