import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TracebackEvent } from '@sonde/sdk/api'
import type { Page } from 'playwright-core'
import { needs } from '../debian.ts'
import { until } from '../sonde-process.ts'
import { answerEvents, type EventAnswers } from './answer-events.ts'
import { shareStage, untilDrawn, type VisitOptions } from './browser.ts'
import { generatedEvent, generatedList } from './generated-event.ts'
import { lookEverywhere } from './look-everywhere.ts'

const FAILED_REQUEST = /^console: Failed to load resource/
const START_MS = Date.UTC(2026, 6, 31, 13, 52, 40, 118) + 0.125

/** Visits with answers of events in place of the server's. */
const answered = (answers: EventAnswers, more: VisitOptions = {}): VisitOptions => ({
  ...more,
  before: (page) => answerEvents(page, { list: () => generatedList(Date.now()), ...answers }),
})

/** Pixels of the canvas of a lane that are not empty, as rows and columns, so that a drawing can be told from none. */
function inkOf(page: Page, name: string): Promise<number> {
  return page
    .locator('.lane-row', { hasText: name })
    .locator('canvas')
    .evaluate((canvas: HTMLCanvasElement) => {
      const { width, height } = canvas
      const data = canvas.getContext('2d')?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray(0)
      let count = 0
      for (let at = 3; at < data.length; at += 4) if (data[at]! > 200) count++
      return count
    })
}

const RULE = { name: 'PCIe stalls', condition: 'stalls rise', devices: ['mlx5_3'] }
const caption = (page: Page) => page.locator('.lanes .panel-caption')

test('the list of events, and what it says without any', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)

  await t.test('open events stand first, with why others ended and what was left out', async (t) => {
    await stage.visit(
      '/incidents',
      async (page) => {
        await page.getByText('PCIe stalls on mlx5_3, for').waitFor()
        const states = await page.locator('.incident-table tbody td:first-child').allInnerTexts()
        assert.deepEqual(states, ['Open', 'Cleared', 'Cut', 'Truncated', 'Stopped'])
        const words = await page.locator('.incident-table').innerText()
        assert.match(words, /the next part continues it\./)
        assert.match(words, /The disk accepted no more samples/)
        assert.match(await page.locator('.rail-item', { hasText: 'Incidents' }).innerText(), /^Incidents\s+1\s+open$/)
        await lookEverywhere(t, page, 'events')
      },
      answered({}),
    )
  })

  await t.test('filters stand in the address, and are asked of the server', async () => {
    const asked: string[] = []
    const list = (address: URL) => {
      asked.push(address.search)
      return generatedList(Date.now(), address.search.includes('severity=') ? { incidents: [], openCount: 0 } : {})
    }
    await stage.visit(
      '/incidents?device=mlx5_3',
      async (page) => {
        await page.getByRole('link', { name: 'PCIe stalls', exact: true }).first().waitFor()
        await page.getByRole('button', { name: 'Ended' }).click()
        await page.getByRole('combobox', { name: 'Severity' }).selectOption('Critical')
        await page.getByRole('combobox', { name: 'Time' }).selectOption('Last 24 h')
        await page.getByText('No incident matches.').waitFor()
        assert.equal(new URL(page.url()).search, '?device=mlx5_3&state=ended&severity=critical&within=24h')
        await until('the question', 10_000, async () =>
          asked.some((search) => /^\?device=mlx5_3&state=ended&severity=critical&from=\d+$/.test(search)),
        )
        await page.getByRole('button', { name: 'Show all incidents' }).click()
        await page.getByRole('link', { name: 'PCIe stalls', exact: true }).first().waitFor()
        assert.equal(new URL(page.url()).search, '')
      },
      answered({ list }),
    )
  })

  await t.test('with rules and without an event it says that they watch', async (t) => {
    const list = () => generatedList(Date.now(), { incidents: [], openCount: 0 })
    const look = async (page: Page): Promise<void> => {
      await page.getByText('No incident yet.').waitFor()
      await page.getByRole('link', { name: 'Incidents of Retransmissions' }).waitFor()
      await lookEverywhere(t, page, 'events-none-yet')
    }
    await stage.visit('/incidents', look, answered({ list }))
  })

  await t.test('a file of rules that was refused is a banner, and limits that were reached are told', async (t) => {
    const fault = 'rules.json: $.rules[2].value is "high"; allowed: a whole number'
    const list = () => generatedList(Date.now(), { traceback: { watching: [RULE], fault, limited: 12, removed: 0 } })
    const look = async (page: Page): Promise<void> => {
      await page.getByText('The file of rules is not in use.').waitFor()
      const words = await page.locator('main').innerText()
      assert.ok(words.includes(fault) && words.includes('The previous rules stay in effect.'), words)
      assert.match(words, /12\s+events came faster/u)
      await lookEverywhere(t, page, 'events-fault')
    }
    await stage.visit('/incidents', look, answered({ list }))
  })

  await t.test('outlines stand while it is awaited, and the reason where it does not come', async (t) => {
    const answers = Promise.withResolvers<void>()
    const look = async (page: Page): Promise<void> => {
      await page.locator('main [aria-busy="true"]').first().waitFor()
      assert.doesNotMatch(await page.locator('main').innerText(), /No incident|No rule/)
      answers.resolve()
      await page.getByText('The incidents are not known.').waitFor()
      await page.getByText('The log cannot be read.').waitFor()
      await lookEverywhere(t, page, 'events-error')
      await answerEvents(page, { list: () => generatedList(Date.now()) })
      const shown = page.getByRole('link', { name: 'PCIe stalls', exact: true }).first().waitFor()
      // The page asks again by itself: then the button is gone before it is pressed.
      await Promise.race([page.getByRole('button', { name: 'Try now' }).first().click(), shown])
      await shown
    }
    await stage.visit('/incidents', look, {
      expected: FAILED_REQUEST,
      before: (page) =>
        page.route('**/api/v1/incidents**', async (route) => {
          await answers.promise
          const error = { code: 'TRB_LOG', message: 'The log cannot be read.' }
          await route.fulfill({ status: 500, json: { error } })
        }),
    })
  })

  await t.test('an event that opens is there at once, by the stream', async () => {
    let isOpen = false
    const list = () => generatedList(Date.now(), isOpen ? {} : { incidents: [], openCount: 0 })
    const look = async (page: Page): Promise<void> => {
      await page.getByText('No incident yet.').waitFor()
      isOpen = true
      await page.getByText('PCIe stalls on mlx5_3, for').waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('n')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('i')
      await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
    }
    await stage.visit('/incidents', look, answered({ list }))
  })
})

test('an event, its signals on one axis', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)
  const closed = generatedEvent(START_MS)

  await t.test('says what changed first, and draws every lane', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await page.getByText('PCIe changed first: Correctable errors.').waitFor()
      // Times are coarse until the samples around them are here.
      await page.getByText('then NIC Sent −6.4').waitFor()
      const words = await page.locator('main').innerText()
      assert.match(words, /PCIe Correctable errors −64\d.*then NIC Sent −6\.4.*then GPU Tensor active \+350/u)
      assert.match(words, /13:52:40\.118\s13/u, 'the start, as exactly as it is known')
      const names = await page.locator('.lane-row .lane-title').allInnerTexts()
      assert.deepEqual(names.slice(0, 3), ['Outbound PCIe stalled', 'Correctable errors', 'Link speed'])
      await until('ink', 10_000, async () => (await inkOf(page, 'Link speed')) > 300)
      await lookEverywhere(t, page, 'event')
    }
    await stage.visit('/incidents/a-node:12', look, answered({ event: () => closed }))
  })

  await t.test('lanes can stand in the order of their first change', async () => {
    const look = async (page: Page): Promise<void> => {
      await page.getByText('PCIe changed first').waitFor()
      await page.getByRole('button', { name: 'By first change' }).click()
      await until('the order', 10_000, async () => {
        const names = await page.locator('.lanes .lane-row .lane-title').allInnerTexts()
        return names[0] === 'Correctable errors' && names[2] === 'Sent' && names.at(-1) !== 'Power'
      })
      assert.equal(new URL(page.url()).search, '?sort=change')
    }
    await stage.visit('/incidents/a-node:12', look, answered({ event: () => closed }))
  })

  await t.test('keys zoom down to single samples, and the address has the view', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await page.getByText('PCIe changed first').waitFor()
      await page.locator('.lanes-body').focus()
      await page.keyboard.press('[')
      for (let turn = 0; turn < 12; turn++) await page.keyboard.press('+')
      await page.getByText(/\d+\ssamples in view/u).waitFor()
      await until('the address', 10_000, async () => new URL(page.url()).searchParams.has('zoom'))
      await page.keyboard.press('ArrowRight')
      await page.locator('.samples-table .is-current').waitFor()
      await lookEverywhere(t, page, 'event-samples')
      const address = page.url()
      const shown = await caption(page).innerText()
      await page.goto(address)
      await page.getByText(/\d+\ssamples in view/u).waitFor()
      assert.equal((await caption(page).innerText()).split(' · ')[1], shown.split(' · ')[1])
      await page.locator('.lanes-body').focus()
      await page.keyboard.press('0')
      await until('all', 10_000, async () => !new URL(page.url()).searchParams.has('zoom'))
    }
    await stage.visit('/incidents/a-node:12', look, answered({ event: () => closed }))
  })

  await t.test('a drag zooms, a drag with Shift moves, a wheel zooms at the pointer, and back undoes', async () => {
    const look = async (page: Page): Promise<void> => {
      await page.getByText('PCIe changed first').waitFor()
      const box = await page.locator('.lane-row', { hasText: 'Link speed' }).locator('canvas').boundingBox()
      assert.ok(box)
      const [y, from, to] = [box.y + 20, box.x + 150, box.x + 350]
      await page.mouse.move(from, y)
      await page.mouse.down()
      await page.mouse.move(to, y, { steps: 4 })
      await page.locator('.lane-marked').waitFor()
      await page.mouse.up()
      await until('the zoom', 10_000, async () => new URL(page.url()).searchParams.has('zoom'))
      const zoomed = new URL(page.url()).searchParams.get('zoom')
      await page.keyboard.down('Shift')
      await page.mouse.down()
      await page.mouse.move(from, y, { steps: 4 })
      await page.mouse.up()
      await page.keyboard.up('Shift')
      await until('the move', 10_000, async () => new URL(page.url()).searchParams.get('zoom') !== zoomed)
      const moved = new URL(page.url()).searchParams.get('zoom')
      await page.keyboard.down('Control')
      await page.mouse.wheel(0, -300)
      await page.keyboard.up('Control')
      await until('the wheel', 10_000, async () => new URL(page.url()).searchParams.get('zoom') !== moved)
      await page.goBack()
      await until('all', 10_000, async () => !new URL(page.url()).searchParams.has('zoom'))
      await until('the whole', 10_000, async () => /6\ss of 6\ss/u.test(await caption(page).innerText()))
      await page.goForward()
      const ahead = page.url()
      assert.ok(new URL(ahead).searchParams.has('zoom'))
      await page.goBack()
      await until('all again', 10_000, async () => /6\ss of 6\ss/u.test(await caption(page).innerText()))
      // A wheel that has not come to rest writes nothing into the address that somebody went to meanwhile.
      await page.keyboard.down('Control')
      await page.mouse.wheel(0, -300)
      await page.keyboard.up('Control')
      await page.evaluate(() => history.forward())
      await until('the address ahead', 10_000, async () => page.url() === ahead)
      await new Promise((resolve) => setTimeout(resolve, 500))
      assert.equal(page.url(), ahead)
    }
    await stage.visit('/incidents/a-node:12', look, answered({ event: () => closed }))
  })

  await t.test('the cursor reads all lanes at once, gaps as gaps', async () => {
    const look = async (page: Page): Promise<void> => {
      await page.getByText('PCIe changed first').waitFor()
      await until('a value', 10_000, async () => {
        const value = page.locator('.lane-row', { hasText: 'Link speed' }).locator('.lane-reading')
        return (await value.innerText()) === '8.00'
      })
      assert.equal(await page.locator('.lane-row', { hasText: 'Sent' }).locator('.lane-reading').innerText(), 'gap')
      assert.match(await page.locator('.lane-chip').innerText(), /\+1\.13\d?\s?\d*\ss · 13:52:41\.2/u)
    }
    const at = '/incidents/a-node:12?at=2026-07-31T13:52:41.250Z'
    await stage.visit(at, look, answered({ event: () => closed }))
  })

  await t.test('a gap is hatched, and the table says it in words', async (t) => {
    const look = async (page: Page): Promise<void> => {
      await page
        .getByText(/720\s+samples missing, 72\s+ms/u)
        .first()
        .waitFor({ state: 'attached' })
      await lookEverywhere(t, page, 'event-gap')
    }
    const zoom = '2026-07-31T13:52:41.210Z/2026-07-31T13:52:41.300Z'
    await stage.visit(`/incidents/a-node:12?zoom=${zoom}`, look, answered({ event: () => closed }))
  })

  await t.test('an open event grows while it is watched', async (t) => {
    const openedMs = Date.now() - 3_000
    const open = (): ReturnType<typeof generatedEvent> => {
      const { endMs: _endMs, end: _end, ...event } = closed.event
      const spanMs = { before: 2_000, after: Date.now() - openedMs }
      const window = { fromMs: openedMs - spanMs.before, toMs: openedMs + spanMs.after }
      return generatedEvent(openedMs, { ...event, startMs: openedMs, window, ...OPEN }, undefined, spanMs)
    }
    const look = async (page: Page): Promise<void> => {
      await page.getByText('Its rule holds.').waitFor()
      await untilDrawn(page)
      const before = await caption(page).innerText()
      await page.locator('.lane-mark.is-open', { hasText: 'still open' }).waitFor()
      await until('growth', 20_000, async () => (await caption(page).innerText()) !== before)
      await lookEverywhere(t, page, 'event-open')
    }
    await stage.visit('/incidents/a-node:12', look, answered({ event: open }))
  })

  await t.test('a part of an event says so, leads to its neighbours, and lists what its size left out', async (t) => {
    const first = { id: 11, startMs: START_MS - 60_000 }
    const part = generatedEvent(START_MS, { end: 'cut', continues: 11, first, leftOut: 412_000 })
    const answer = () => {
      const whole = { ...part.event, ...first, endMs: START_MS + 120_000, end: 'cleared', parts: 3 } as const
      const parts = [
        { ...first, endMs: START_MS },
        { id: 12, startMs: START_MS },
        { id: 13, startMs: START_MS + 60_000 },
      ]
      const times = { fromMs: START_MS + 2000, toMs: START_MS + 3000 }
      const leftOut = [{ source: 'rdma_samples', type: 'rdma_sample', device: 'mlx5_7/1', ...times, samples: 412_000 }]
      return { ...part.answer(), whole, parts, leftOut }
    }
    const look = async (page: Page): Promise<void> => {
      await page
        .getByText(/It reached the longest or largest/)
        .first()
        .waitFor()
      await page.getByText(/Part 2 of 3; the event began .*, lasted 3\smin/).waitFor()
      const hrefOf = (name: string) => page.getByRole('link', { name }).getAttribute('href')
      assert.deepEqual(
        [await hrefOf('Part before'), await hrefOf('Next part')],
        ['/incidents/a-node:11', '/incidents/a-node:13'],
      )
      const row = page.getByRole('region', { name: 'Left out' }).locator('tbody tr')
      assert.match(await row.innerText(), /rdma_sample\s+rdma_samples\s+mlx5_7\/1\s+\+2\ss\s+\+3\ss\s+412\s000 samples/)
      await lookEverywhere(t, page, 'event-cut')
    }
    await stage.visit('/incidents/a-node:12', look, answered({ event: () => ({ ...part, answer }) }))
  })

  await t.test('an event without samples says why, and one that is not kept leads back', async (t) => {
    const { window: _window, ...event } = closed.event
    const nothing = {
      node: 'a-node',
      parts: [],
      leftOut: [],
      lanes: [],
      lanesLeftOut: 0,
      lanesKept: 0,
      kinds: [],
      marks: [],
    }
    const bare = { event, answer: () => ({ event, ...nothing }), samples: closed.samples }
    const look = async (page: Page): Promise<void> => {
      await page.getByText('No sample of this event is kept.').waitFor()
      await lookEverywhere(t, page, 'event-bare')
    }
    await stage.visit('/incidents/a-node:12', look, answered({ event: () => bare }))
    const lookNone = async (page: Page): Promise<void> => {
      await page.getByText('There is no event a-node:99.').waitFor()
      await page.getByRole('link', { name: 'Incidents that are kept' }).click()
      await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
    }
    await stage.visit('/incidents/a-node:99', lookNone, answered({ event: () => closed }, { expected: FAILED_REQUEST }))
  })

  await t.test('samples that do not come are told with the reason, and asked for again', async (t) => {
    let isFailing = true
    const look = async (page: Page): Promise<void> => {
      await page.getByText('The samples did not come.').waitFor()
      await lookEverywhere(t, page, 'event-error')
      isFailing = false
      await page.getByRole('button', { name: 'Try now' }).click()
      await page.getByText('PCIe changed first').waitFor()
    }
    await stage.visit('/incidents/a-node:12', look, {
      expected: FAILED_REQUEST,
      before: async (page) => {
        await answerEvents(page, { list: () => generatedList(Date.now()), event: () => closed })
        await page.route('**/samples?*', (route) =>
          isFailing
            ? route.fulfill({ status: 500, json: { error: { code: 'TRB_FILE', message: 'The file is damaged.' } } })
            : route.fallback(),
        )
      },
    })
  })
})

/** Takes the end away from an event. */
const OPEN = { endMs: undefined, end: undefined } as unknown as Partial<TracebackEvent>
