import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import {
  block,
  boundedText,
  choice,
  flag,
  hostNames,
  integer,
  listenHost,
  pattern,
  secret,
  section,
  setting,
  urlPattern,
} from '@sonde/sdk/config'
import { userStateDir } from '@sonde/sdk/internal'
import * as v from 'valibot'

export { type AccessConfig, accessSchema } from './access/config.ts'

import { agentsSection } from './agents/config.ts'

/** Schema of `store`. */
export const storeSchema = block({
  enabled: setting(
    flag(),
    true,
    'Whether history is kept on disk; without it there are only the last minutes in memory',
  ),
  dir: v.optional(
    v.pipe(
      boundedText(),
      v.description(
        'Folder of the history. Default: `/var/lib/sonde` where it is writable, else `sonde` in `$XDG_STATE_HOME` or `~/.local/state`',
      ),
    ),
  ),
  retention_days: setting(integer(1, 3650, 'days'), 7, 'How long full resolution is kept'),
  rollup_retention_days: setting(integer(1, 3650, 'days'), 90, 'How long 5-minute roll-ups are kept'),
  max_bytes: setting(
    integer(16 << 20, 2 ** 50, 'bytes'),
    8 * 2 ** 30,
    'Size of history on disk; beyond, the oldest hours leave first, roll-ups last',
  ),
  queue_bytes: setting(
    integer(1 << 20, 2 ** 32, 'bytes'),
    64 << 20,
    'Records that wait for the disk; beyond, the oldest are dropped and counted',
  ),
  durability: setting(
    choice(['interval', 'block']),
    'interval',
    'What acknowledged records survive: `interval` a crash of the process, `block` power loss too, as every write waits for the disk',
  ),
})

/** Settings of the store after checking. */
export type StoreConfig = v.InferOutput<typeof storeSchema>

/** Most receivers of webhooks. */
const RECEIVER_COUNT_MAX = 32
// Numbers are no names: for Valibot a list is an object with numbers as keys.
const RECEIVER_NAME = /^(?!\d+$)[A-Za-z0-9][A-Za-z0-9._-]{0,252}$/
const RECEIVER_KEY = /^[A-Za-z_]{1,64}$/
const RECEIVERS =
  'receivers by name, at most 32: each a URL, or an object with url, timeout, events, secret_file and secret_env'

/** Receivers by name. A value may be a secret, so that no print-out shows one. */
function receivers() {
  const named = (name: RegExp) => v.pipe(v.string(), v.regex(name, RECEIVERS))
  const object = v.record(named(RECEIVER_KEY), v.unknown(), RECEIVERS)
  return v.pipe(
    secret(v.record(named(RECEIVER_NAME), v.union([v.string(RECEIVERS), object], RECEIVERS), RECEIVERS)),
    v.check((given) => Object.keys(given).length <= RECEIVER_COUNT_MAX, RECEIVERS),
  )
}

/** Headers of a message that a signature must not replace. */
const OTHER_HEADERS = /^((webhook|content|transfer)-.*|host|user-agent|connection)$/i
const HEADER_NAME = 'a header name of at most 64 letters, digits and -, of no other header of a message'

function headerName() {
  return v.pipe(
    pattern(/^[A-Za-z][A-Za-z0-9-]{0,63}$/, HEADER_NAME),
    v.check((name) => !OTHER_HEADERS.test(name), HEADER_NAME),
  )
}

function keyFile(what: string) {
  return v.optional(v.pipe(boundedText(1, 4096), v.description(`File with ${what}`)))
}

function keyVariable(what: string) {
  const form = pattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'the name of a variable of the environment')
  return v.optional(v.pipe(form, v.description(`Variable of the environment with ${what}`)))
}

const SECRETS =
  'the secrets of Standard Webhooks (`whsec_…`), on one line with commas, at most 4: all of them sign. It is read before each message'
const SIGNING_KEYS =
  'the keys of `Convox-Signature` (lowercase hexadecimal, 64 digits or more), on one line with commas, at most 4: all of them sign. It is read before each message'

/** Schema of `console`. */
export const consoleSchema = block({
  host: setting(listenHost(), '127.0.0.1', 'Address to listen on; beyond loopback a login is needed'),
  port: setting(integer(0, 65_535, '0 is any free port'), 9395, 'Port to listen on'),
  allowed_hosts: setting(
    hostNames(),
    [],
    'Further host names by which browsers may reach the console; see [the HTTP API](http-api.md)',
  ),
  prometheus: section({
    url: v.optional(
      v.pipe(
        secret(urlPattern(/^https?:\/\/[^\s]+$/, 'http://HOST:PORT or https://NAME:PASSWORD@HOST/PATH'), 'url'),
        v.description(
          'Where the server with the HTTP API of Prometheus is that has the history; name and password in it are sent as Basic credentials. `--prometheus` sets it, too. Default: there is none, and `sonde console` says so',
        ),
      ),
    ),
    interval_ms: setting(
      integer(0, 3_600_000, 'milliseconds'),
      0,
      'Distance of its samples, by which values hold and rates are made. 0: that of the middle one of its targets, as its `up` has it, else 15 000',
    ),
    latency_ms: setting(
      integer(0, 600_000, 'milliseconds'),
      0,
      'How late its samples can be found: last values hold longer by this, and the live view lags by it. 0: learned from the age of its newest sample, at most 30 000',
    ),
  }),
  agents: agentsSection,
  webhooks: section({
    receivers: setting(
      receivers(),
      {},
      'Who gets [events](webhooks.md), by name: a URL, or an object with `url`, and if wanted `timeout` (`10s`; default `30s`), `events` (a list of types such as `hint.*`; default all), and `secret_file` or `secret_env` of its own',
    ),
    secret_file: keyFile(SECRETS),
    secret_env: keyVariable(SECRETS),
    signing_key_file: keyFile(SIGNING_KEYS),
    signing_key_env: keyVariable(SIGNING_KEYS),
    signature_header: setting(headerName(), 'Convox-Signature', 'Name of the header with the signature of these keys'),
    retries: setting(
      integer(0, 9, 'attempts'),
      0,
      'Attempts after the first for a message that fails, with the same id: after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h. Messages that wait are lost at a stop',
    ),
  }),
})

/** Settings of the console after checking. */
export type ConsoleConfig = v.InferOutput<typeof consoleSchema>

/** Whether Sonde creates a file or folder of that name in its data folder. */
export function isStoreName(name: string): boolean {
  return /^(store\.db.*|service\.key|life\.json|traceback|access|params\.json.*|data(_\d+)?)$/.test(name)
}

const SYSTEM_DIR = '/var/lib/sonde'

/** The default data folder: that of the system if it is writable, else that of the user. */
export function defaultDataDir(): string {
  try {
    accessSync(SYSTEM_DIR, constants.W_OK)
    return SYSTEM_DIR
  } catch {
    // The folder is missing or not writable: an ordinary user keeps data below the home directory.
    return join(userStateDir(), 'sonde')
  }
}
