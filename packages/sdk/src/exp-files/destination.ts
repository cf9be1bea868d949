import { basename, join } from 'node:path'
import { shownAddress } from '../config/secret.ts'
import type { ExpFault, ExpLine, ParsedExp } from './parse.ts'
import { type KeyTarget, PLUGINS, type Plugin, pluginOf } from './plugins.ts'

/** A destination that a `.exp` file asks for. */
export interface ExpDestination {
  /** Key below `export`. */
  readonly kind: string
  /** The block below that key, as the file of an agent spells it. */
  readonly block: Readonly<Record<string, unknown>>
  /** The line of each key of the block; keys that are missing come from line 1. */
  readonly lines: ReadonlyMap<string, number>
}

/** The result of a file: a destination, nothing because it is switched off, or faults. */
export interface ExpResult {
  readonly destination?: ExpDestination
  readonly faults: readonly ExpFault[]
}

const COMMON_KEYS = [
  ...['name', 'enable', 'plugin_name', 'host', 'port', 'msgpack_data_layout'],
  ...['source_tag', 'source_tags', 'counterset', 'fieldset', 'plugin_<key>', 'add_<label>'],
]
const FLAGS: Readonly<Record<string, boolean>> = {
  ...{ on: true, true: true, yes: true, '1': true },
  ...{ off: false, false: false, no: false, '0': false },
}
const LAYOUTS: Readonly<Record<string, string>> = { flb_std: 'flb_std', standard: 'flb_std', custom: 'custom' }
const FORMATS: Readonly<Record<string, string>> = {
  ...{ msgpack: 'out_file', json: 'json_lines', json_stream: 'json_lines' },
  ...{ out_file: 'out_file', json_lines: 'json_lines', plain: 'plain', csv: 'csv', ltsv: 'ltsv', template: 'template' },
}

/**
 * The destination of a `.exp` file. A file without `enable=1` is switched off, and nothing else of it is checked. Pure.
 *
 * @param file Path of the file: its name, `es.exp`, is the name of a destination without one.
 * @param readSet Gives the lines of a field set, or a fault as the predicate of a sentence.
 */
export function expDestination(
  { lines, faults }: ParsedExp,
  file: string,
  readSet: (path: string) => readonly string[] | string,
): ExpResult {
  const enable = lines.find(({ key }) => key === 'enable')
  if (enable === undefined || enable.value === '0') return { faults: [] }
  if (enable.value !== '1') return { faults: [faultOf(enable, `is ${JSON.stringify(enable.value)}; allowed: 0 or 1`)] }
  const named = lines.find(({ key }) => key === 'plugin_name')
  const plugin = named === undefined ? undefined : pluginOf(named.value)
  if (plugin === undefined) return { faults: [...faults, pluginFault(named)] }
  const reader = new Reader(plugin, readSet)
  for (const line of lines) reader.take(line)
  return {
    destination: { kind: plugin.kind, block: reader.block(basename(file)), lines: reader.lines },
    faults: [...faults, ...reader.faults],
  }
}

function pluginFault(named: ExpLine | undefined): ExpFault {
  const allowed = `allowed: ${Object.keys(PLUGINS).join(', ')}`
  if (named === undefined) return { line: 1, words: `plugin_name is missing; ${allowed}` }
  if (named.value === 'kafka') return faultOf(named, `is kafka, and Sonde does not send to Kafka; ${allowed}`)
  return faultOf(named, `is ${JSON.stringify(named.value)}; ${allowed}`)
}

function faultOf({ key, line }: ExpLine, words: string): ExpFault {
  return { line, words: `${key} ${words}` }
}

/** Reads the lines of a file into a block. */
class Reader {
  readonly faults: ExpFault[] = []
  readonly lines = new Map<string, number>()
  readonly #plugin: Plugin
  readonly #readSet: (path: string) => readonly string[] | string
  readonly #block: Record<string, unknown>
  /** The lines of `counterset` and `fieldset`. */
  readonly #sets = new Map<ExpLine, readonly string[]>()
  /** Parts of an address or a path, which are no keys of the block. */
  readonly #parts = new Map<string, string>()

  constructor(plugin: Plugin, readSet: (path: string) => readonly string[] | string) {
    this.#plugin = plugin
    this.#readSet = readSet
    this.#block = { ...plugin.defaults }
  }

  take(line: ExpLine): void {
    const { key, value } = line
    if (key === 'enable' || key === 'plugin_name') return
    if (key.startsWith('plugin_')) this.#pluginKey(line)
    else if (key.startsWith('add_')) this.#set(line, ['labels', 'add', key.slice('add_'.length)], value)
    else if (key === 'name') this.#set(line, ['name'], value)
    else if (key === 'host' || key === 'port') this.#address(line)
    else if (key === 'msgpack_data_layout') this.#layout(line)
    else if (key === 'source_tag' || key === 'source_tags') this.#set(line, ['tags'], listOf(value))
    else if (key === 'counterset' || key === 'fieldset') this.#fieldSet(line)
    else this.#fail(line, `is an unknown key; allowed: ${COMMON_KEYS.join(', ')}`)
  }

  /** The block, with what follows from several lines. */
  block(usualName: string): Record<string, unknown> {
    const { hasUrl, port, kind } = this.#plugin
    // Lines of counters have no section, so they come first.
    const sets = [...this.#sets].sort(([a], [b]) => (a.key < b.key ? -1 : 1))
    for (const [line] of sets)
      this.#set(
        line,
        ['field_set'],
        sets.flatMap(([, lines]) => lines),
      )
    const block: Record<string, unknown> = { name: usualName, ...this.#block }
    const given = (part: string) => this.#parts.get(part)
    if (hasUrl) {
      const host = given('host') ?? '127.0.0.1'
      const shown = host.includes(':') ? `[${host}]` : host
      block.url = `http${block.is_https === true ? 's' : ''}://${shown}:${given('port') ?? port}`
      delete block.is_https
    } else if (port !== undefined && block.path === undefined) {
      if (given('host') !== undefined) block.host = given('host')
      if (given('port') !== undefined) block.port = Number(given('port'))
    }
    if (kind === 'file' && typeof block.folder === 'string') {
      block.path = join(
        block.folder,
        typeof block.path === 'string' ? block.path : `${basename(String(block.name), '.exp')}.log`,
      )
      const line = this.lines.get('path') ?? this.lines.get('folder') ?? 1
      this.lines.set('path', line)
    }
    delete block.folder
    return block
  }

  #pluginKey(line: ExpLine): void {
    const { keys } = this.#plugin
    const name = line.key.slice('plugin_'.length).toLowerCase()
    const target = Object.hasOwn(keys, name) ? keys[name] : undefined
    const allowed = Object.keys(keys).map((key) => `plugin_${key}`)
    if (target === undefined)
      this.#fail(line, `is an unknown key of this plugin; allowed: ${allowed.join(', ') || 'none'}`)
    else this.#convert(line, target)
  }

  #convert(line: ExpLine, { path, as }: KeyTarget): void {
    const { value } = line
    const word = value.toLowerCase()
    if (as === 'text') this.#set(line, path, value)
    else if (as === 'compression') this.#set(line, path, word)
    else this.#choose(line, path, as === 'flag' ? FLAGS : FORMATS)
  }

  #choose(line: ExpLine, path: readonly string[], words: Readonly<Record<string, unknown>>): void {
    const word = line.value.toLowerCase()
    if (Object.hasOwn(words, word)) this.#set(line, path, words[word])
    else this.#fail(line, `is ${JSON.stringify(line.value)}; allowed: ${Object.keys(words).join(', ')}`)
  }

  #address(line: ExpLine): void {
    const fault = addressFault(line, this.#plugin)
    if (fault !== undefined) this.#fail(line, fault)
    this.#parts.set(line.key, line.value)
    this.lines.set(this.#plugin.hasUrl ? 'url' : line.key, line.line)
  }

  #layout(line: ExpLine): void {
    if (this.#plugin.hasLayout) this.#choose(line, ['layout'], LAYOUTS)
    else if (LAYOUTS[line.value] !== 'flb_std')
      this.#fail(line, `is ${JSON.stringify(line.value)}; allowed: flb_std, standard; custom is for forward and stdout`)
  }

  #fieldSet(line: ExpLine): void {
    const read = this.#readSet(line.value)
    if (typeof read === 'string') this.#fail(line, `is ${JSON.stringify(line.value)}: ${read}`)
    else this.#sets.set(line, read)
  }

  #set({ line }: ExpLine, path: readonly string[], value: unknown): void {
    let block = this.#block
    for (const key of path.slice(0, -1)) {
      const inner = (block[key] ?? {}) as Record<string, unknown>
      block[key] = inner
      block = inner
    }
    block[path.at(-1) ?? ''] = value
    this.lines.set(path.join('.'), line)
  }

  #fail(line: ExpLine, words: string): void {
    this.faults.push(faultOf(line, words))
  }
}

function addressFault({ key, value }: ExpLine, { port }: Plugin): string | undefined {
  if (port === undefined) return 'is given; allowed: nothing, because this plugin has no far end'
  if (key === 'host') {
    const isHost = /^[A-Za-z0-9_.:%-]{1,253}$/.test(value)
    return isHost ? undefined : `is ${JSON.stringify(shownAddress(value))}; allowed: a host name or an address`
  }
  const isPort = /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
  return isPort ? undefined : `is ${JSON.stringify(value)}; allowed: a port from 1 to 65535`
}

function listOf(value: string): string[] {
  return value.split(',').flatMap((part) => part.trim() || [])
}
