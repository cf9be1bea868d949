import { checkOptions } from '../config/check-options.ts'
import { boundedText, choice, pattern, setting } from '../config/kit.ts'
import { clashOfLimits, type DeliveryLimits, deliveryEntries, type RelatedLimits } from '../delivery/config.ts'
import { TEXT_FORMATS, type TextFormat } from '../wire/fluent-text/encode.ts'
import { refuseClash } from './refuse-clash.ts'
import type { OptionClash } from './registry.ts'

/** Options of sinks that write lines of text. Such a sink makes one write at a time, so lines keep their order. */
export interface TextSinkOptions extends Omit<DeliveryLimits, 'concurrency'> {
  /**
   * The form of a line: `json_lines` (default), `plain`, `out_file`, `csv`, `ltsv` or `template`, as the outputs `file`
   * and `stdout` of Fluent Bit have them.
   */
  readonly format?: TextFormat
  /** `flb_std` (default): one flat map. `custom`: the fields are in the map `values`. */
  readonly layout?: 'flb_std' | 'custom'
  /** Tag of lines of the format `out_file`. Default: `sonde`. */
  readonly tag?: string
  /** Text of the format `template`: `{time}` and `{name}` are replaced. Default: none. */
  readonly template?: string
}

/** The keys of lines of text. */
const lineEntries = {
  format: setting(
    choice(TEXT_FORMATS),
    'json_lines',
    'Form of a line, as the outputs `file` and `stdout` of Fluent Bit have them',
  ),
  layout: setting(
    choice(['flb_std', 'custom']),
    'flb_std',
    'Layout of a record: `flb_std` is one flat map; `custom` has the fields in the map `values`',
  ),
  tag: setting(pattern(/^[^\s:]{1,200}$/, 'a tag without blanks and colons'), 'sonde', 'Tag of lines of `out_file`'),
  template: setting(
    boundedText(0, 4096),
    '',
    'Text of the format `template`, such as `{time} rx={rx_bytes_total}`; `{name}` is a member of the record',
  ),
}

const { concurrency: _one, ...limits } = deliveryEntries

/** Schema entries of {@link TextSinkOptions}. */
export const textEntries = { ...lineEntries, ...limits }

type LineOptions = Readonly<Required<Pick<TextSinkOptions, keyof typeof lineEntries>>>

/** A conflict between options that are each valid. */
export function clashOfText(options: LineOptions & RelatedLimits): OptionClash | undefined {
  return clashOfTemplate(options) ?? clashOfLimits(options)
}

function clashOfTemplate({ format, template }: LineOptions): OptionClash | undefined {
  if (format === 'template' && template === '')
    return { key: 'template', fault: 'is missing', allowed: 'the text of a line, because the format is template' }
  if (format !== 'template' && template !== '')
    return { key: 'format', fault: `is ${format}`, allowed: 'template, because a template is given' }
  return undefined
}

/**
 * The options of lines with their defaults.
 *
 * @throws SondeError `OUT_OPTION` if an option is not allowed.
 */
export function checkLineOptions(given: TextSinkOptions, where: string): LineOptions {
  const options = checkOptions(lineEntries, given, 'OUT_OPTION', where)
  refuseClash(clashOfTemplate(options), 'OUT_OPTION', where)
  return options
}
