import { COMPARISON_VALUE, type Form, integerForm, type Key, LABELS_MAX, NAME, U64_MAX } from './keys.ts'
import {
  COMBINATION_KEYS,
  COMBINATIONS,
  DATA_ID_KEYS,
  FILE_KEYS,
  RULE_KINDS,
  SIGNAL_KEYS,
  SIGNAL_REFERENCES,
  WITHIN,
} from './language.ts'
import { RULE_LIMITS } from './limits.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * JSON Schema of a file of rules, for editors that check during typing. The reader refuses everything that the schema
 * refuses. It also refuses faults that a schema cannot express: unknown or repeated names, numbers that are not plain
 * digits, text after the end.
 */
export function rulesSchema(): object {
  const properties: Record<string, unknown> = {}
  for (const key of FILE_KEYS) properties[key.name] = keySchema(key)
  const ids = listSchema(objectSchema(DATA_ID_KEYS), RULE_LIMITS.signals, 'Diagnostic counters of the device')
  Object.assign(properties, {
    'data-ids': ids,
    data_ids: { ...ids, description: 'The same as data-ids' },
    signals: listSchema(objectSchema(SIGNAL_KEYS), RULE_LIMITS.signals, 'Fields of records of any type'),
    rules: listSchema(ruleSchema(), RULE_LIMITS.rules, 'Conditions that open an event'),
  })
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Rules of sonde traceback',
    type: 'object',
    additionalProperties: false,
    required: ['sample_history_depth', 'rules'],
    properties,
    anyOf: [
      { required: ['data-ids', 'diag_sample_period_ns'], not: { required: ['data_ids'] } },
      { required: ['data_ids', 'diag_sample_period_ns'], not: { required: ['data-ids'] } },
      { required: ['signals'], not: { anyOf: [{ required: ['data-ids'] }, { required: ['data_ids'] }] } },
    ],
  }
}

function ruleSchema(): Schema {
  const ofSignals = RULE_KINDS.map(({ kind, long, help, keys }) => {
    const types = long === undefined ? [kind] : [kind, long]
    const rule = objectSchema(
      [NAME, ...SIGNAL_REFERENCES.map((key) => ({ ...key, fallback: '' })), ...keys],
      types,
      help,
    )
    return { ...rule, oneOf: SIGNAL_REFERENCES.map(({ name }) => ofReference(name, keys)) }
  })
  const combined = COMBINATIONS.map((type) => {
    const keys = [NAME, ...COMBINATION_KEYS, ...(type === 'all_of' ? [WITHIN] : [])]
    return objectSchema(keys, [type], type === 'all_of' ? 'All of its rules are active' : 'At least one rule is active')
  })
  return { oneOf: [...ofSignals, ...combined] }
}

/** A rule that names its signal with this key. Counters of data IDs are whole numbers. */
function ofReference(name: string, keys: readonly Key[]): Schema {
  const required = [name]
  const isOfCounter = name === 'data_id' && keys.some(({ form }) => form.kind === 'value')
  return isOfCounter
    ? { required, properties: { [COMPARISON_VALUE.name]: formSchema(integerForm(0, U64_MAX, '')) } }
    : { required }
}

function objectSchema(keys: readonly Key[], types: readonly string[] = [], description?: string): Schema {
  const properties: Record<string, unknown> = {}
  if (types.length > 0) properties.comparison_type = { enum: types, ...(description && { description }) }
  for (const key of keys) properties[key.name] = keySchema(key)
  const required = keys.flatMap(({ name, fallback }) => (fallback === undefined ? [name] : []))
  return {
    type: 'object',
    additionalProperties: false,
    required: types.length > 0 ? [...required, 'comparison_type'] : required,
    properties,
  }
}

function listSchema(items: Schema, maxItems: number, description: string): Schema {
  return { type: 'array', minItems: 1, maxItems, description, items }
}

function keySchema({ form, help, fallback }: Key): Schema {
  const ending = fallback === undefined || fallback === '' ? '' : `. Default: ${fallback}`
  const unit = 'unit' in form && form.unit !== '' ? `. Unit: ${form.unit}` : ''
  return { ...formSchema(form), description: `${help}${unit}${ending}` }
}

function formSchema(form: Form): Schema {
  const name = { type: 'string', minLength: 1, maxLength: RULE_LIMITS.nameCharacters }
  switch (form.kind) {
    case 'text':
      return name
    case 'data_id':
      return { type: 'string', pattern: '^0x[0-9a-fA-F]{16}$' }
    case 'integer':
      return { type: 'integer', minimum: Number(form.min), maximum: Number(form.max) }
    case 'number':
      if (form.max === Number.MAX_VALUE) return { type: 'number' }
      return { type: 'number', minimum: form.min, maximum: form.max }
    case 'value':
      return { type: 'number' }
    case 'names':
      return { type: 'array', minItems: form.min, maxItems: form.max, uniqueItems: true, items: name }
    case 'labels':
      return { type: 'object', maxProperties: LABELS_MAX, additionalProperties: name }
  }
}
