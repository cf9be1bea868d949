// Forged answers of a receiver of remote write. An honest receiver beside it gets all records without an error.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { HttpPeerAnswer } from '../../../test/http-peer.ts'
import { RemoteWritePeer } from '../../../test/remote-write-peer.ts'
import { BatchSource } from '../../../test/sink-records.ts'
import { createRemoteWrite } from './remote-write.ts'

const QUICK = { lingerMs: 0, backoffInitialMs: 1, backoffMaxMs: 5 }
/** Half of the unpacked bomb: more than what a process takes on its own in this time. */
const GROWTH_LIMIT_BYTES = 128 << 20
const WRITTEN = 'X-Prometheus-Remote-Write-Samples-Written'
const HISTOGRAMS = 'X-Prometheus-Remote-Write-Histograms-Written'
/** Unpacked 256 MiB: parts of gzip that follow each other are unpacked together. */
const BOMB = Buffer.concat(Array<Buffer>(256).fill(gzipSync(Buffer.alloc(1 << 20))))

const says = (samples: string, text = ''): HttpPeerAnswer => ({ status: 200, text, headers: { [WRITTEN]: samples } })

/**
 * Answers to a request of 2.0 with two samples. `other`: the receiver has said nothing that can be read, so the records
 * are sent again as 1.0. `ok`: they have arrived. `rejected`: it says that it has not written them.
 */
const ANSWERS: Readonly<Record<string, readonly ['other' | 'ok' | 'rejected', HttpPeerAnswer]>> = {
  'no count': ['other', { status: 204, text: '' }],
  'a negative count': ['other', says('-2')],
  'a fraction': ['other', says('2.0')],
  'a number with an exponent': ['other', says('2e9')],
  'a hexadecimal number': ['other', says('0x2')],
  'a count beyond 53 bits': ['other', says('9'.repeat(40))],
  'a long text': ['other', says('2'.repeat(8000))],
  'two counts': ['other', says('2, 2')],
  'an empty count': ['other', says('')],
  'more than was sent': ['ok', says('999999999999999')],
  'a body that is longer than what is read': ['ok', says('2', 'x'.repeat(4 << 20))],
  'the count as histograms': ['ok', { status: 200, text: '', headers: { [HISTOGRAMS]: '2' } }],
  'a bomb of gzip': ['ok', { status: 200, text: BOMB, headers: { [WRITTEN]: '2', 'content-encoding': 'gzip' } }],
  'none written': ['rejected', says('0')],
  'half written': ['rejected', says('1')],
}

test('forged counts of written samples: the records arrive as 1.0 or are refused in words, and take no memory', async (t) => {
  const honest = await RemoteWritePeer.start(t)
  honest.kind = '2.0'
  const neighbour = createRemoteWrite({ url: honest.http.url, version: '2.0', ...QUICK })
  t.after(() => neighbour.close())
  const rssBytes = process.memoryUsage.rss()
  for (const [title, [wanted, answer]] of Object.entries(ANSWERS)) {
    const peer = await RemoteWritePeer.start(t)
    const usual = peer.http.answer
    peer.http.answer = (body, payload) => {
      const isSecond = peer.http.headers['x-prometheus-remote-write-version'] === '0.1.0'
      const usually = usual(body, payload)
      return isSecond ? usually : answer
    }
    const sink = createRemoteWrite({ url: peer.http.url, version: '2.0', ...QUICK })
    const source = new BatchSource()
    for (const each of [sink, neighbour]) each.accept(source.ports({ a: 1, b: 2 }))
    await neighbour.flush()
    const flushed = sink.flush()
    if (wanted === 'rejected') await assert.rejects(flushed, /2 rejected: HTTP 200: [01] of 2 samples were written/)
    else await assert.doesNotReject(flushed, title)
    assert.deepEqual(peer.versions, wanted === 'other' ? ['2.0.0', '0.1.0'] : ['2.0.0'], title)
    assert.deepEqual([sink.stats.in, sink.stats.out], [2, wanted === 'rejected' ? 0 : 2], title)
    await sink.close()
  }
  assert.ok(process.memoryUsage.rss() - rssBytes < GROWTH_LIMIT_BYTES)
  assert.deepEqual([neighbour.stats.out, neighbour.stats.errors], [2 * Object.keys(ANSWERS).length, 0])
  assert.equal(honest.samples.length, 2 * Object.keys(ANSWERS).length)
})
