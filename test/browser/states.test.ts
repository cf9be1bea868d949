import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { needs } from '../debian.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, SHOW_LIMIT_MS, shareStage, startStage, takePicture, untilDrawn } from './browser.ts'
import { chartNamed } from './chart.ts'

const FAILED_REQUEST = /^console: Failed to load resource/

test('what the page says while it has no data, or cannot get them', needs('chromium-headless-shell'), async (t) => {
  const stage = await shareStage(t)

  await t.test('shows outlines while answers are awaited, and claims nothing', async (t) => {
    const answers = Promise.withResolvers<void>()
    const hold = async (route: Route): Promise<void> => {
      await answers.promise
      await route.continue()
    }
    const look = async (page: Page): Promise<void> => {
      await page.locator('main [aria-busy="true"]').first().waitFor()
      await takePicture(t, page, 'state-loading')
      assert.match(await page.locator('.live').innerText(), /^Waiting/)
      assert.doesNotMatch(await page.locator('main').innerText(), /No interface|No data|does not answer|\b0\b/)
      answers.resolve()
      await page.getByRole('link', { name: /^lo\b/ }).waitFor()
      await untilDrawn(page)
    }
    await stage.visit('/', look, { before: (page) => page.route('**/api/v1/**', hold) })
  })

  await t.test('says that an interface is not there, and leads back', async (t) => {
    await stage.visit('/fabric/nosuch0', async (page) => {
      await page.locator('main').getByText('nosuch0').first().waitFor()
      await page.locator('main .empty').first().waitFor()
      await takePicture(t, page, 'state-no-such-interface')
      await assertSound(page)
      await page.locator('main').getByRole('link', { name: 'Fabric' }).first().click()
      await page.getByRole('heading', { level: 1, name: 'Fabric' }).waitFor()
    })
  })

  await t.test('says that a window holds no sample', async (t) => {
    await stage.visit('/?from=2020-02-01T10:00:00Z&to=2020-02-01T10:05:00Z', async (page) => {
      await page.getByText('Paused').waitFor()
      await untilDrawn(page)
      await page.getByText('No samples between 2020-02-01 10:00:00 and 2020-02-01 10:05:00 UTC.').waitFor()
      await takePicture(t, page, 'state-no-sample')
      assert.doesNotMatch(await page.locator('main').innerText(), /Tasks wait|Processors|\d\s%/, 'says what is so now')
      await assertSound(page)
      await page.getByRole('button', { name: /^Go to (the )?first data/ }).click()
      await chartNamed(page, 'Processors busy').group.waitFor()
    })
  })

  await t.test('says that a Prometheus with several agents is no node, instead of mixing them', async (t) => {
    const several = async (route: Route): Promise<void> => {
      const answer = await route.fetch()
      const node = (await answer.json()) as object
      await route.fulfill({ response: answer, json: { ...node, backend: 'http://prometheus:9090', agentCount: 2 } })
    }
    const look = async (page: Page): Promise<void> => {
      for (const path of ['/fabric/lo', '/fabric', '/']) {
        await page.goto(stage.address + path)
        await page.getByText('The Prometheus behind this page scrapes 2 agents.').waitFor()
      }
      await takePicture(t, page, 'state-several-agents')
      await assertSound(page)
      await page.locator('main').getByRole('link', { name: 'Explorer' }).click()
      await page.getByRole('heading', { level: 1, name: 'Explorer' }).waitFor()
    }
    await stage.visit('/fabric/lo', look, { before: (page) => page.route('**/api/v1/node', several) })
  })

  await t.test('says that nothing is at an address', async () => {
    await stage.visit(
      '/setting',
      async (page) => {
        await page.getByRole('heading', { name: 'No such page' }).waitFor()
      },
      { expected: FAILED_REQUEST },
    )
  })

  await t.test('says what the server answered, and goes on when it answers again', async (t) => {
    const fail = (route: Route): Promise<void> =>
      route.fulfill({ status: 500, json: { error: { code: 'STO_READ', message: 'The history cannot be read.' } } })
    const look = async (page: Page): Promise<void> => {
      const banner = page.locator('.banner')
      await banner.getByText('The history cannot be read.').waitFor()
      await takePicture(t, page, 'state-error')
      await assertSound(page)
      await banner.getByRole('button', { name: 'Try now' }).click()
      await banner.getByText('The history cannot be read.').waitFor()
      await page.unrouteAll()
      await banner.waitFor({ state: 'detached' })
      await page.getByRole('link', { name: /^lo\b/ }).waitFor()
    }
    await stage.visit('/', look, { expected: FAILED_REQUEST, before: (page) => page.route('**/api/v1/query', fail) })
  })

  await t.test('says why the server ended the live stream, and goes on when it sends again', async (t) => {
    const fault = (route: Route): Promise<void> =>
      answerStream(route, 'fault', { code: 'QRY_COST_LIMIT', message: 'Too many series.' })
    const look = async (page: Page): Promise<void> => {
      const banner = page.locator('.banner')
      await banner.getByText('The server ended the live stream. Too many series.').waitFor()
      await takePicture(t, page, 'state-fault')
      await page.unrouteAll()
      await banner.waitFor({ state: 'detached' })
      await page.getByText(/^Live$/).waitFor()
    }
    await stage.visit('/', look, { before: (page) => page.route('**/api/v1/stream*', fault) })
  })

  await t.test('says which samples the live stream could not have', async () => {
    const gap = (route: Route): Promise<void> => {
      const toMs = Date.now()
      return answerStream(route, 'gap', { fromMs: toMs - 2_000, toMs, reason: 'memory does not reach back' })
    }
    const look = async (page: Page): Promise<void> => {
      await page
        .locator('.banner')
        .getByText(/No samples from .* They are not available: memory does not reach back/)
        .waitFor()
    }
    await stage.visit('/', look, { before: (page) => page.route('**/api/v1/stream*', gap) })
  })

  await t.test('does not call an interface gone because a question failed', async () => {
    const fail = (route: Route): Promise<void> =>
      route.fulfill({ status: 422, json: { error: { code: 'QRY_COST_LIMIT', message: 'That is too much.' } } })
    const look = async (page: Page): Promise<void> => {
      await page.locator('main').getByText('That is too much.').first().waitFor()
      assert.doesNotMatch(await page.locator('main').innerText(), /gone/i)
    }
    await stage.visit('/fabric/lo', look, {
      expected: FAILED_REQUEST,
      before: (page) => page.route('**/api/v1/query', fail),
    })
  })

  await t.test('names parts of the address that it does not know', async () => {
    await stage.visit('/?range=5m&colour=red', async (page) => {
      await page.locator('.banner').getByText('Ignored in the address: colour.').waitFor()
    })
  })
})

test('a node without interfaces says so, and where the reason is', needs('chromium-headless-shell'), async (t) => {
  const roots = temporaryDir()
  t.after(() => roots.remove())
  for (const root of ['proc', 'sys']) mkdirSync(join(roots.path, root))
  const stage = await startStage(t, [
    '--path.procfs',
    join(roots.path, 'proc'),
    '--path.sysfs',
    join(roots.path, 'sys'),
  ])
  await stage.visit('/', async (page) => {
    await page.locator('main').getByText('No interface is read').first().waitFor()
    await takePicture(t, page, 'state-no-interface')
    await assertSound(page)
  })
  await stage.visit('/sources', async (page) => {
    await page.locator('main').getByText('Absent').first().waitFor()
    await takePicture(t, page, 'state-absent-sources')
    await assertSound(page)
  })
})

test(
  'a page whose server is killed says so, then catches up, and draws the gap as a gap',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await startStage(t)
    const look = async (page: Page): Promise<void> => {
      await untilDrawn(page)
      const busy = chartNamed(page, 'Processors busy')
      await until('samples before the loss', SHOW_LIMIT_MS, async () => /\d\s%/.test(await busy.sentence()))
      const gapsBefore = gapsIn(await busy.sentence())
      await stage.sonde.stop('SIGKILL')
      await page.getByText(/^Stopped \d+\s(s|min)/).waitFor()
      await page.locator('.banner').getByText('does not answer.').waitFor()
      await page.getByText(/^As of \d\d:\d\d:\d\d UTC, when data came last$/).waitFor()
      await page.getByRole('link', { name: /^lo\b.* when last known/ }).waitFor()
      await takePicture(t, page, 'state-lost')
      await assertSound(page)
      await stage.restart()
      await page.locator('.banner').waitFor({ state: 'detached', timeout: 30_000 })
      await page.getByText(/^Live$/).waitFor()
      await page.getByText(/^As of/).waitFor({ state: 'detached' })
      await until('the gap', 60_000, async () => gapsIn(await busy.sentence()) === gapsBefore + 1)
      await takePicture(t, page, 'state-resumed')
    }
    await stage.visit('/?range=5m', look, { expected: /^console: Failed to load resource: net::ERR_/ })
  },
)

test('what is told of a server that is killed ends with its last word', needs('chromium-headless-shell'), async (t) => {
  const stage = await startStage(t, ['--only-simulated', '--simulate=retransmission-storm'])
  const look = async (page: Page): Promise<void> => {
    const sentence = page.locator('.headline-sentence')
    await sentence.getByText(/is losing packets, for \d+\ss\.$/).waitFor({ timeout: 60_000 })
    await page.locator('.tile').first().waitFor()
    await stage.sonde.stop('SIGKILL')
    await page.getByText(/^As of/).waitFor()
    const last = await sentence.innerText()
    const ink3 = await page.locator('.tile-value .unit').first().evaluate(colourOf)
    assert.equal(await page.locator('.tile-value .num').first().evaluate(colourOf), ink3)
    const stopped = async (): Promise<number> => Number(/(\d+)/.exec(await page.locator('.live-word').innerText())?.[1])
    const atS = await stopped()
    await until('time goes on', SHOW_LIMIT_MS, async () => (await stopped()) >= atS + 3)
    assert.equal(await sentence.innerText(), last)
  }
  await stage.visit('/', look, { expected: /^console: Failed to load resource: net::ERR_/ })
})

test(
  'on a small screen the top bar says how far behind the page is, and a time with its zone',
  needs('chromium-headless-shell'),
  async (t) => {
    const stage = await shareStage(t)
    await stage.visit(
      '/',
      async (page) => {
        await page.locator('.live-lag').waitFor()
        assert.match(
          (await page.locator('.live').innerText()).replace(/\s+/g, ' '),
          /^Live (< )?\d+ s behind( \d:\d\d of 5 min)? \d\d:\d\d:\d\d UTC$/,
        )
      },
      { viewport: SCREENS.phone },
    )
  },
)

/** Runs in the page. */
function colourOf(element: Element): string {
  return getComputedStyle(element).color
}

/** Answers the live stream with one event and ends it. */
function answerStream(route: Route, event: string, data: object): Promise<void> {
  return route.fulfill({ contentType: 'text/event-stream', body: `event: ${event}\ndata: ${JSON.stringify(data)}\n\n` })
}

/** Gaps that a chart says it has: what lies before the first sample counts as one. */
function gapsIn(sentence: string): number {
  return Number(/(\d+)\sgap/.exec(sentence)?.[1] ?? 0)
}
