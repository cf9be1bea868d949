/** How a field is written in JSON. `list` fields repeat; `packed` ones are numbers in one value. */
export interface MessageField {
  readonly name: string
  /** The type on the wire; the name of a message for one. `hex` are bytes of ids. */
  readonly type:
    | 'string'
    | 'bool'
    | 'int64'
    | 'uint32'
    | 'fixed32'
    | 'fixed64'
    | 'sfixed64'
    | 'double'
    | 'hex'
    | MessageName
  readonly isList?: true
}

/** A message that Sonde sends. */
export type MessageName = keyof typeof FIELDS

const LIST = { isList: true } as const

/** The fields of the messages that Sonde sends, by number, with their names in JSON. From the specification of OTLP. */
const FIELDS = {
  metrics: { 1: { name: 'resourceMetrics', type: 'resourceMetrics', ...LIST } },
  resourceMetrics: {
    1: { name: 'resource', type: 'resource' },
    2: { name: 'scopeMetrics', type: 'scopeMetrics', ...LIST },
    3: { name: 'schemaUrl', type: 'string' },
  },
  scopeMetrics: { 1: { name: 'scope', type: 'scope' }, 2: { name: 'metrics', type: 'metric', ...LIST } },
  metric: {
    1: { name: 'name', type: 'string' },
    2: { name: 'description', type: 'string' },
    3: { name: 'unit', type: 'string' },
    5: { name: 'gauge', type: 'points' },
    7: { name: 'sum', type: 'points' },
    9: { name: 'histogram', type: 'histogram' },
  },
  points: {
    1: { name: 'dataPoints', type: 'point', ...LIST },
    2: { name: 'aggregationTemporality', type: 'uint32' },
    3: { name: 'isMonotonic', type: 'bool' },
  },
  histogram: {
    1: { name: 'dataPoints', type: 'histogramPoint', ...LIST },
    2: { name: 'aggregationTemporality', type: 'uint32' },
  },
  point: {
    2: { name: 'startTimeUnixNano', type: 'fixed64' },
    3: { name: 'timeUnixNano', type: 'fixed64' },
    4: { name: 'asDouble', type: 'double' },
    6: { name: 'asInt', type: 'sfixed64' },
    7: { name: 'attributes', type: 'attribute', ...LIST },
    8: { name: 'flags', type: 'uint32' },
  },
  histogramPoint: {
    2: { name: 'startTimeUnixNano', type: 'fixed64' },
    3: { name: 'timeUnixNano', type: 'fixed64' },
    4: { name: 'count', type: 'fixed64' },
    5: { name: 'sum', type: 'double' },
    6: { name: 'bucketCounts', type: 'fixed64', ...LIST },
    7: { name: 'explicitBounds', type: 'double', ...LIST },
    9: { name: 'attributes', type: 'attribute', ...LIST },
    10: { name: 'flags', type: 'uint32' },
  },
  logs: { 1: { name: 'resourceLogs', type: 'resourceLogs', ...LIST } },
  resourceLogs: {
    1: { name: 'resource', type: 'resource' },
    2: { name: 'scopeLogs', type: 'scopeLogs', ...LIST },
    3: { name: 'schemaUrl', type: 'string' },
  },
  scopeLogs: { 1: { name: 'scope', type: 'scope' }, 2: { name: 'logRecords', type: 'logRecord', ...LIST } },
  logRecord: {
    1: { name: 'timeUnixNano', type: 'fixed64' },
    2: { name: 'severityNumber', type: 'uint32' },
    3: { name: 'severityText', type: 'string' },
    5: { name: 'body', type: 'value' },
    6: { name: 'attributes', type: 'attribute', ...LIST },
    7: { name: 'droppedAttributesCount', type: 'uint32' },
    8: { name: 'flags', type: 'fixed32' },
    9: { name: 'traceId', type: 'hex' },
    10: { name: 'spanId', type: 'hex' },
    11: { name: 'observedTimeUnixNano', type: 'fixed64' },
  },
  resource: { 1: { name: 'attributes', type: 'attribute', ...LIST } },
  scope: {
    1: { name: 'name', type: 'string' },
    2: { name: 'version', type: 'string' },
    3: { name: 'attributes', type: 'attribute', ...LIST },
  },
  attribute: { 1: { name: 'key', type: 'string' }, 2: { name: 'value', type: 'value' } },
  value: {
    1: { name: 'stringValue', type: 'string' },
    2: { name: 'boolValue', type: 'bool' },
    3: { name: 'intValue', type: 'int64' },
    4: { name: 'doubleValue', type: 'double' },
  },
} as const

/** The field of a message by its number. */
export function fieldOf(message: MessageName, number: number): MessageField | undefined {
  return (FIELDS[message] as Readonly<Record<number, MessageField>>)[number]
}
