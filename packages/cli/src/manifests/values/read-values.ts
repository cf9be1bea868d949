import { type ConfigIssue, check } from '@sonde/sdk/config'
import { parse, parseDocument } from 'yaml'
import { ConfigError } from '../../config/config-error.ts'
import { readYamlText } from '../../config/file.ts'
import { checkRooms } from '../../config/rooms.ts'
import { depthFault, syntaxFaults } from '../../config/yaml-faults.ts'
import { chartValues } from '../chart.ts'
import { type Block, isBlock, mergeValues, YAML_OPTIONS } from '../template/functions.ts'
import { valuesSchema } from './values.ts'

/**
 * The values of the chart with those of files and of `--set`, each over those before it. A value null takes the usual
 * value away, as in Helm.
 *
 * @throws ConfigError that names each wrong value and the allowed values; also of `config` and `console.config`.
 */
export function readValues(files: readonly string[], settings: readonly string[]): Block {
  const given = [...files.map(readValuesFile), ...settings.map(readSetting)]
  const values = withoutNull(given.reduce(mergeValues, chartValues()))
  const checked = check(valuesSchema, values, '')
  const faults: ConfigIssue[] = checked.ok ? [] : [...checked.issues]
  for (const [place, config] of configsIn(values)) faults.push(...faultsOfConfig(place, config))
  if (faults.length === 0) return values
  throw new ConfigError(faults.map(({ path, fault, allowed }) => `value ${path} ${fault}; allowed: ${allowed}`))
}

function readValuesFile(path: string): Block {
  const text = readYamlText(path)
  const deep = depthFault(text)
  const document = deep === undefined ? parseDocument(text, { ...YAML_OPTIONS, prettyErrors: false }) : undefined
  const faults = document === undefined ? [deep] : syntaxFaults(text, document)
  if (faults.length > 0)
    throw new ConfigError(
      faults.flatMap((each) =>
        each === undefined ? [] : [`${path}:${text.slice(0, each.offset).split('\n').length}: ${each.words}`],
      ),
    )
  const values: unknown = document?.toJS() ?? {}
  if (isBlock(values)) return values
  throw new ConfigError([`${path}: the file has no block of values; allowed: keys as in values.yaml of the chart`])
}

/** `KEY.PATH=VALUE`. A dot within a key has a `\` before it; the value is YAML. */
function readSetting(setting: string): Block {
  const [, path = '', text = ''] = /^([^=]+)=([\s\S]*)$/.exec(setting) ?? []
  if (path === '') throw new ConfigError([`--set ${JSON.stringify(setting)}; allowed: KEY.PATH=VALUE`])
  let value: unknown
  try {
    value = text === '' ? '' : parse(text, YAML_OPTIONS)
  } catch {
    value = text
  }
  const keys = path.split(/(?<!\\)\./).map((key) => key.replaceAll('\\.', '.'))
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Block
}

function withoutNull(values: Block): Block {
  const kept = Object.entries(values).filter(([, value]) => value !== null)
  return Object.fromEntries(kept.map(([key, value]) => [key, isBlock(value) ? withoutNull(value) : value]))
}

function configsIn(values: Block): [string, Block][] {
  const { config, console: ofConsole } = values
  const inner = isBlock(ofConsole) ? ofConsole.config : undefined
  return [
    ...(isBlock(config) ? [['config', config] as [string, Block]] : []),
    ...(isBlock(inner) ? [['console.config', inner] as [string, Block]] : []),
  ]
}

function faultsOfConfig(place: string, config: Block): ConfigIssue[] {
  const checked = checkRooms(config)
  return checked.ok ? [] : checked.issues.map((issue) => ({ ...issue, path: `${place}.${issue.path}` }))
}
