// The announcements of labels and texts to a service whose limit is too small for all of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sondeError } from '../../../test/helper.ts'
import { IpcRig } from '../../../test/ipc-rig.ts'
import { createSource, defineType, label, lossType, readRecords, text, viewsOf } from '../../index.ts'
import { UsedTexts } from '../../link/used-texts.ts'

const noteType = defineType('note', 'A note', { desk: label(), words: text() })

/** Records of a type that the peer took, in order. */
function taken(rig: IpcRig, type: typeof noteType | typeof lossType) {
  return rig.peer.pages.flatMap((page) =>
    page.type.fingerprint === type.fingerprint
      ? [...readRecords(type, viewsOf(page.bytes), page.count, page.symbols)]
      : [],
  )
}

test('labels without room take only their own records out: known ones go on, and the loss is reported', async (t) => {
  const rig = await IpcRig.start(t, { peer: { limits: { symbols: 4 } } })
  const source = createSource({ id: 'desks', emit: (batch) => rig.sink.accept(batch) })
  const desks = [...Array.from({ length: 34 }, (_, i) => `desk ${i}`), 'desk 0']
  for (const desk of desks) {
    source.report(noteType, { desk, words: `of ${desk}` })
    source.emit()
  }
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST', /6 symbol_limit/))
  const notes = taken(rig, noteType) as { desk: string; words: string }[]
  // The first 32 symbols of a source count towards no limit: eight of its own, 24 desks; then four more.
  assert.deepEqual(
    notes,
    [...desks.slice(0, 28), 'desk 0'].map((desk) => ({ desk, words: `of ${desk}` })),
  )
  source.countLoss('absence_limit')
  source.emit()
  // Records about the sink itself follow.
  await rig.sink.close()
  const losses = taken(rig, lossType) as { component: string; reason: string }[]
  assert.deepEqual(losses.map(({ component, reason }) => [component, reason]).slice(-2), [
    ['desks', 'absence_limit'],
    ['ipc', 'symbol_limit'],
  ])
})

test('texts for which the service has no room together are told again when they are used again', async (t) => {
  const rig = await IpcRig.start(t, { peer: { limits: { clientBytes: 1 << 20 } } })
  const sources = ['a', 'b', 'c'].map((id) => createSource({ id, emit: (batch) => rig.sink.accept(batch) }))
  const words = (round: number, i: number) => `${round} ${i} ${'.'.repeat(400)}`
  const wanted: string[] = []
  for (let round = 0; round < 4; round++) {
    for (const source of sources) {
      for (let i = 0; i < 60; i++) {
        source.report(noteType, { desk: source.info.id, words: words(round, i) })
        wanted.push(`${source.info.id} ${words(round, i)}`)
      }
      source.emit()
      await rig.sink.flush()
    }
  }
  const notes = taken(rig, noteType) as { desk: string; words: string }[]
  assert.deepEqual(
    notes.map(({ desk, words }) => `${desk} ${words}`),
    wanted,
  )
  const begun = rig.peer.said.filter(
    ({ kind, body }) => kind === 'symbols' && 'texts' in body && body.texts.length === 0,
  )
  assert.ok(begun.length > sources.length, `${begun.length} tables were begun`)
})

test('records of a file whose ids of texts lie far apart cost no more than what is told at once', async (t) => {
  const rig = await IpcRig.start(t, { peer: { limits: { clientBytes: 1 << 20 } } })
  const symbols = new UsedTexts(
    { countMax: 10, charactersMax: 100, labelIdEnd: 2 ** 24 },
    { item: 'DTB_CONTENT', limit: 'DTB_LIMIT' },
  )
  const ids = [2 ** 24 - 1, 2 ** 30 + 2 ** 24 - 1] as const
  symbols.take(ids[0], ['desk 1'])
  symbols.take(2 ** 30, [])
  symbols.take(ids[1], ['words'])
  const longest = { texts: 0 }
  const note = (texts: readonly string[]) => {
    longest.texts = Math.max(longest.texts, texts.length)
    return texts
  }
  const { ofBatches } = symbols
  const [since, textsFrom] = [symbols.since.bind(symbols), ofBatches.textsFrom.bind(ofBatches)]
  t.mock.method(symbols, 'since', (...from: Parameters<typeof since>) => note(since(...from)))
  t.mock.method(ofBatches, 'textsFrom', (...from: Parameters<typeof textsFrom>) => note(textsFrom(...from)))
  const source = { id: 'far', tag: '', labels: {}, symbols }
  const bytes = new Uint8Array(Uint32Array.from(ids).buffer)
  const made = { clock: 'wall', origin: 'own', arrivedMs: 0 } as const
  rig.sink.accept({ ...made, type: noteType, source, count: 1, bytes, symbols: ofBatches })
  await assert.rejects(rig.sink.flush(), sondeError('IPC_LOST', /1 symbol_limit/))
  assert.ok(longest.texts > 0 && longest.texts <= 2000, `${longest.texts} texts at once`)
})
