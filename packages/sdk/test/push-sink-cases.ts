import assert from 'node:assert/strict'
import { SondeError } from '../src/index.ts'
import type { DeliveryLimits } from '../src/internal/index.ts'
import { until } from './helper.ts'
import { type Case, type PeerBehaviour, settled, type Tested } from './tested-sink.ts'

/** Real time is real: limits under which a dead peer is noticed soon. */
export const HASTY: DeliveryLimits = {
  lingerMs: 0,
  timeoutMs: 300,
  backoffInitialMs: 10,
  backoffMaxMs: 40,
  closeTimeoutMs: 400,
}
const SMALL: DeliveryLimits = { ...HASTY, queueLimitBytes: 65_536, batchBytesMax: 4096 }
const CLOSE_LIMIT_MS = 10_000

/** Cases for sinks whose peer fails. */
export const PUSH_SINKS: readonly Case[] = [
  { title: 'a peer that never answers holds nobody up, and gets everything once it does', run: checkHanging },
  { title: 'a peer that fails for a while gets everything', run: (tested) => checkTrouble(tested, 'fails') },
  { title: 'a peer that is gone for a while gets everything', run: (tested) => checkTrouble(tested, 'gone') },
  { title: 'what the peer refuses is dropped, and what follows is not', run: checkRefused },
  { title: 'a full queue drops, and counts', limits: SMALL, run: checkFull },
  { title: 'closes with a full queue before a peer that hangs', limits: SMALL, run: (t) => checkCloseFull(t, 'hangs') },
  { title: 'closes with a full queue before a peer that fails', limits: SMALL, run: (t) => checkCloseFull(t, 'fails') },
  {
    title: 'closes with a full queue before a peer that is gone',
    limits: SMALL,
    run: (t) => checkCloseFull(t, 'gone'),
  },
]

async function checkHanging(tested: Tested): Promise<void> {
  await tested.peer('hangs')
  for (let n = 0; n < 50; n++) tested.accept(tested.source.ports({ [`d${n}`]: n }))
  tested.checkBalance()
  assert.deepEqual([tested.sink.stats.out, tested.queued], [0, 50])
  await until('an attempt is given up', () => tested.sink.stats.errors > 0)
  await tested.peer('takes')
  const shown = await tested.shown()
  assert.deepEqual([Object.keys(shown).length, shown.d49, tested.dropped], [50, 49n, 0])
}

async function checkTrouble(tested: Tested, trouble: PeerBehaviour): Promise<void> {
  tested.accept(tested.source.ports({ before: 1 }))
  await tested.sink.flush()
  await tested.peer(trouble)
  tested.accept(tested.source.ports({ during: 2 }))
  await until('several attempts have failed', () => tested.sink.stats.errors >= 3)
  tested.checkBalance()
  assert.equal(tested.queued, 1)
  await tested.peer('takes')
  tested.accept(tested.source.ports({ after: 3 }))
  assert.deepEqual(await tested.shown(), { before: 1n, during: 2n, after: 3n })
}

async function checkRefused(tested: Tested): Promise<void> {
  if (tested.neverRefuses) return
  await tested.peer('refuses')
  tested.accept(tested.source.ports({ a: 1, b: 2 }))
  await assert.rejects(tested.sink.flush(), SondeError)
  assert.equal(tested.dropped, 2)
  await tested.peer('takes')
  tested.accept(tested.source.ports({ c: 3 }))
  assert.deepEqual(await tested.shown(), { c: 3n })
}

async function checkFull(tested: Tested): Promise<void> {
  await fill(tested, 'hangs')
  assert.ok(tested.queued > 0)
  await tested.peer('takes')
  await settled(tested.sink.flush())
  assert.equal(tested.sink.stats.out + tested.dropped, tested.sink.stats.in)
  tested.accept(tested.source.ports({ last: 1 }))
  assert.equal((await tested.shown()).last, 1n)
}

async function checkCloseFull(tested: Tested, trouble: PeerBehaviour): Promise<void> {
  await fill(tested, trouble)
  const { out } = tested.sink.stats
  const before = tested.queued
  const closed = tested.sink.close()
  const limit = AbortSignal.timeout(CLOSE_LIMIT_MS)
  await Promise.race([closed, new Promise((_, reject) => limit.addEventListener('abort', () => reject(limit.reason)))])
  assert.deepEqual([tested.queued, tested.sink.stats.out], [0, out])
  assert.ok(before > 0 && tested.dropped >= before)
}

/** Gives it records until it has dropped some. */
async function fill(tested: Tested, behaviour: PeerBehaviour): Promise<void> {
  await tested.peer(behaviour)
  for (let n = 0; tested.dropped === 0; n++) {
    assert.ok(n < 10_000, 'the queue has a limit')
    tested.accept(tested.source.ports({ a: n, b: n, c: n }))
  }
  tested.checkBalance()
}
