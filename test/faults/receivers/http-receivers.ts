import assert from 'node:assert/strict'
import { BulkServer } from '../../../packages/sdk/test/bulk-server.ts'
import { decodeMetrics, pointsIn } from '../../../packages/sdk/test/otlp-messages.ts'
import { decode1 } from '../../../packages/sdk/test/remote-write-peer.ts'
import { type HttpAnswer, HttpReceiver } from './http-receiver.ts'

/** The only metric of the records: a plain value is none. */
const METRIC = 'numbered_number_total'

/** A receiver of JSON lines. */
export class LineReceiver extends HttpReceiver {
  readonly kind = 'jsonl'
  readonly promises = { order: 'total' } as const

  protected request(body: Buffer): HttpAnswer {
    for (const line of body.toString().split('\n')) {
      if (line === '') continue
      const { type, record } = JSON.parse(line) as { type: string; record: Record<string, string> }
      if (type !== 'numbered') continue
      const { number_total, check = '', worker = '', time = '' } = record
      this.take({ number: Number(number_total), check, worker, time })
    }
    return { status: 204 }
  }
}

/** A receiver of line protocol. */
export class InfluxReceiver extends HttpReceiver {
  readonly kind = 'influx'
  readonly promises = { order: 'total' } as const

  override get options() {
    return { url: this.url, bucket: 'numbers' }
  }

  protected request(body: Buffer): HttpAnswer {
    for (const line of body.toString().split('\n')) {
      if (!line.startsWith('numbered,')) continue
      const [, worker = '', fields = '', time = ''] = /,worker=(\w+)\S* (\S+) (\d+)$/.exec(line) ?? []
      const field = (name: string) => new RegExp(`(?:^|,)${name}=(\\d+)u`).exec(fields)?.[1] ?? ''
      this.take({ number: Number(field('number_total') || Number.NaN), check: field('check'), worker, time })
    }
    return { status: 204 }
  }
}

/** A server for `_bulk`, which stores a document with a known id no second time. */
export class EsReceiver extends HttpReceiver {
  readonly kind = 'es'
  readonly promises = { order: 'none', once: true } as const
  readonly #bulk = new BulkServer()

  protected request(body: Buffer): HttpAnswer {
    const { status, text } = this.#bulk.answer(body.toString())
    assert.deepEqual(this.#bulk.malformed, [])
    for (const document of this.#bulk.documents) {
      if (document.type_name !== 'numbered') continue
      const { number_total, check, left_out, worker, '@timestamp': time } = document
      const whole = String(check ?? /^check=(\d+)$/.exec(String(left_out))?.[1])
      this.take({ number: Number(number_total), check: whole, worker: String(worker), time: String(time) })
    }
    this.#bulk.indexes.clear()
    return { status, contentType: 'application/json', text }
  }
}

/** A receiver of Prometheus remote write. */
export class RemoteWriteReceiver extends HttpReceiver {
  readonly kind = 'remote_write'
  readonly promises = { order: 'series', ownTimes: true } as const

  protected request(body: Buffer): HttpAnswer {
    for (const { labels, samples } of decode1(body)) {
      const { __name__: metric, worker = '' } = Object.fromEntries(labels)
      if (metric !== METRIC) continue
      // A marker of staleness is no sample.
      for (const { value: number, timeMs } of samples)
        if (!Number.isNaN(number)) this.take({ number, worker, time: String(timeMs) })
    }
    return { status: 204 }
  }
}

/** A receiver of OTLP in protobuf. */
export class OtlpReceiver extends HttpReceiver {
  readonly kind = 'otlp'
  readonly promises = { order: 'series' } as const

  protected request(body: Buffer): HttpAnswer {
    for (const { metric, point, attributes } of pointsIn(decodeMetrics(body)))
      if (metric.name === METRIC)
        this.take({ number: Number(point.asInt), worker: String(attributes.worker), time: point.timeUnixNano })
    return { status: 200, contentType: 'application/x-protobuf' }
  }
}
