// Reads requests of OTLP with protobufjs and a schema of its own, so that no code of Sonde decodes what Sonde encoded.
import { readFileSync } from 'node:fs'
import protobuf from 'protobufjs'

const { root } = protobuf.parse(readFileSync(new URL('otlp.proto', import.meta.url), 'utf8'))
const AS_JSON = { longs: String, bytes: String, enums: Number } as const

// The own method divides digit by digit, which takes longer than all the rest of a test.
protobuf.util.Long.prototype.toString = function () {
  return String(this.toBigInt())
}

/** A key with its value. */
export interface OtlpAttribute {
  readonly key: string
  readonly value: {
    readonly stringValue?: string
    readonly boolValue?: boolean
    readonly intValue?: string
    readonly doubleValue?: number
  }
}

/** A point of a gauge, a sum or a histogram. 64-bit numbers are decimal texts. */
export interface OtlpPoint {
  readonly startTimeUnixNano?: string
  readonly timeUnixNano: string
  readonly asInt?: string
  readonly asDouble?: number
  readonly attributes?: readonly OtlpAttribute[]
  readonly count?: string
  readonly sum?: number
  readonly bucketCounts?: readonly string[]
  readonly explicitBounds?: readonly number[]
  /** 1: the series has no value any more. */
  readonly flags?: number
}

interface Points {
  readonly dataPoints: readonly OtlpPoint[]
  readonly aggregationTemporality?: number
  readonly isMonotonic?: boolean
}

/** A metric as a request has it. */
export interface OtlpMetric {
  readonly name: string
  readonly description?: string
  readonly unit?: string
  readonly gauge?: Points
  readonly sum?: Points
  readonly histogram?: Points
}

/** A request for metrics. */
export interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly resource?: { readonly attributes?: readonly OtlpAttribute[] }
    readonly schemaUrl?: string
    readonly scopeMetrics: readonly {
      readonly scope?: { readonly name: string; readonly attributes?: readonly OtlpAttribute[] }
      readonly metrics: readonly OtlpMetric[]
    }[]
  }[]
}

/** A log record as a request has it; ids are base64. */
export interface OtlpLog {
  readonly timeUnixNano?: string
  readonly observedTimeUnixNano?: string
  readonly severityNumber?: number
  readonly severityText?: string
  readonly body?: OtlpAttribute['value']
  readonly attributes?: readonly OtlpAttribute[]
  readonly droppedAttributesCount?: number
  readonly flags?: number
  readonly traceId?: string
  readonly spanId?: string
}

/** A request for logs. */
export interface LogsRequest {
  readonly resourceLogs: readonly {
    readonly resource?: { readonly attributes?: readonly OtlpAttribute[] }
    readonly scopeLogs: readonly {
      readonly scope?: { readonly name: string; readonly attributes?: readonly OtlpAttribute[] }
      readonly logRecords: readonly OtlpLog[]
    }[]
  }[]
}

/** Reads a message of `otlp.proto` by its name. @throws Error if the bytes are none. */
function decodeMessage(name: string, bytes: Uint8Array): unknown {
  const type = root.lookupType(`otlp.${name}`)
  return type.toObject(type.decode(bytes), AS_JSON)
}

/** Writes a message of `otlp.proto` by its name. */
export function encodeMessage(name: string, value: Record<string, unknown>): Uint8Array {
  const type = root.lookupType(`otlp.${name}`)
  return type.encode(type.fromObject(value)).finish()
}

/** Reads a request for metrics. */
export function decodeMetrics(bytes: Uint8Array): MetricsRequest {
  return decodeMessage('ExportMetricsServiceRequest', bytes) as MetricsRequest
}

/** Reads a request for logs. */
export function decodeLogs(bytes: Uint8Array): LogsRequest {
  return decodeMessage('ExportLogsServiceRequest', bytes) as LogsRequest
}

/** Attributes as an object; values as texts, numbers and flags. */
export function attributesOf(attributes: readonly OtlpAttribute[] = []): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value: { stringValue, boolValue, intValue, doubleValue } }) => [
      key,
      stringValue ?? boolValue ?? intValue ?? doubleValue ?? '',
    ]),
  )
}

/** Every point of a request, or of a metric in it, with its metric and the names of its resource and scope. */
export function pointsIn({ resourceMetrics }: MetricsRequest, name?: string) {
  return resourceMetrics.flatMap(({ resource: { attributes } = {}, scopeMetrics }) => {
    const resource = attributesOf(attributes)
    return scopeMetrics.flatMap(({ scope, metrics }) =>
      metrics
        .filter((metric) => name === undefined || metric.name === name)
        .flatMap((metric) =>
          (metric.gauge ?? metric.sum ?? metric.histogram)!.dataPoints.map((point) => ({
            resource,
            scope: scope?.name ?? '',
            metric,
            point,
            attributes: attributesOf(point.attributes),
          })),
        ),
    )
  })
}
