/** How the value of a key is read. `tls` and `secret` values are texts; the schema of the destination checks them. */
type Reading = 'text' | 'flag' | 'compression' | 'format'

/** A key of a destination, and how a value becomes its value. */
export interface KeyTarget {
  /** Key path below the destination. */
  readonly path: readonly string[]
  readonly as: Reading
}

/** An output plugin of Fluent Bit as a kind of destination. */
export interface Plugin {
  /** Key below `export`. */
  readonly kind: string
  /** Whether host and port make the address `url`. */
  readonly hasUrl: boolean
  /** Port of the plugin; undefined: it has neither host nor port. */
  readonly port: number | undefined
  /** Whether the layout `custom` is possible. */
  readonly hasLayout: boolean
  /** Keys after `plugin_`, in small letters. */
  readonly keys: Readonly<Record<string, KeyTarget>>
  /** Values that the file does not give. */
  readonly defaults: Readonly<Record<string, unknown>>
}

const text = (...path: string[]): KeyTarget => ({ path, as: 'text' })
const flag = (...path: string[]): KeyTarget => ({ path, as: 'flag' })

const TLS_KEYS = {
  'tls.verify': flag('tls', 'verify'),
  'tls.ca_file': text('tls', 'ca_file'),
  'tls.crt_file': text('tls', 'cert_file'),
  'tls.key_file': text('tls', 'key_file'),
  'tls.vhost': text('tls', 'server_name'),
}
/** `tls` of an HTTP plugin becomes the protocol of its address. */
const HTTP_KEYS = {
  http_user: text('username'),
  http_passwd: text('password'),
  compress: { path: ['compression'], as: 'compression' },
  tls: flag('is_https'),
  ...TLS_KEYS,
} as const
const FORMAT: KeyTarget = { path: ['format'], as: 'format' }

/** The plugins that `.exp` files may name. */
export const PLUGINS: Readonly<Record<string, Plugin>> = {
  forward: {
    ...{ kind: 'fluent_bit', hasUrl: false, port: 24_224, hasLayout: true, defaults: {} },
    keys: {
      tag: text('tag'),
      tag_match_pair: text('tag'),
      shared_key: text('shared_key'),
      self_hostname: text('self_hostname'),
      username: text('username'),
      password: text('password'),
      unix_path: text('path'),
      require_ack_response: flag('require_ack'),
      compress: { path: ['compression'], as: 'compression' },
      tls: flag('tls', 'enabled'),
      ...TLS_KEYS,
    },
  },
  stdout: {
    ...{ kind: 'stdout', hasUrl: false, port: undefined, hasLayout: true, defaults: { format: 'out_file' } },
    keys: { format: FORMAT, tag: text('tag') },
  },
  stdout_raw: {
    ...{ kind: 'stdout', hasUrl: false, port: undefined, hasLayout: true, keys: {} },
    defaults: { format: 'plain', layout: 'custom' },
  },
  file: {
    ...{ kind: 'file', hasUrl: false, port: undefined, hasLayout: false, defaults: { format: 'out_file' } },
    keys: { path: text('folder'), file: text('path'), format: FORMAT, template: text('template'), tag: text('tag') },
  },
  es: {
    ...{ kind: 'es', hasUrl: true, port: 9200, hasLayout: false },
    defaults: { index: 'fluent-bit', logstash_prefix: 'logstash' },
    keys: {
      index: text('index'),
      logstash_format: flag('logstash_format'),
      logstash_prefix: text('logstash_prefix'),
      suppress_type_name: flag('suppress_type_name'),
      generate_id: flag('generate_id'),
      ...HTTP_KEYS,
    },
  },
  influxdb: {
    ...{ kind: 'influx', hasUrl: true, port: 8086, hasLayout: false, defaults: {} },
    keys: {
      database: text('database'),
      bucket: text('bucket'),
      org: text('org'),
      http_token: text('token'),
      ...HTTP_KEYS,
    },
  },
}

/** The plugin of a name; `influx` is another name of `influxdb`, as the vendor's file is called. */
export function pluginOf(name: string): Plugin | undefined {
  const known = name === 'influx' ? 'influxdb' : name
  return Object.hasOwn(PLUGINS, known) ? PLUGINS[known] : undefined
}
