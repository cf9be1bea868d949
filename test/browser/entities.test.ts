import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Absences, createIpc, createSchema } from '@sonde/sdk'
import { absenceType } from '@sonde/sdk/internal'
import type { Page, Route } from 'playwright-core'
import { type Belts, belts } from '../../packages/agent/test/belt-source.ts'
import { needs } from '../debian.ts'
import { temporaryDir } from '../sonde-process.ts'
import { assertSound } from './axe.ts'
import { SCREENS, type Stage, startStage, takePicture, untilDrawn } from './browser.ts'

const SAMPLE_EVERY_MS = 200

/** A stage on whose node an application tells of conveyor belts, of which no code knows. */
async function startHall(t: TestContext): Promise<{ stage: Stage; running: Belts['running'] }> {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const socketsDir = join(path, 'sockets')
  mkdirSync(socketsDir)
  const config = join(path, 'sonde.yaml')
  writeFileSync(config, `data_sources:\n  - type: netdev\nservice:\n  sockets_dir: ${socketsDir}\n`)
  const stage = await startStage(t, ['--config', config], { env: { SONDE_SERVICE_ENABLED: 'true' } })
  const { definition, running, report } = belts()
  const schema = createSchema({ name: 'hall', sinks: [createIpc({ socketsDir })] })
  for (const type of [...definition.types, absenceType]) schema.addType(type)
  await schema.start()
  const source = schema.createSource({ id: 'hall', tag: 'test' })
  const absences = new Absences(source)
  const timer = setInterval(() => {
    report(source, absences)
    source.flush().catch(() => undefined)
  }, SAMPLE_EVERY_MS)
  t.after(async () => {
    clearInterval(timer)
    // The service may have ended before it.
    await schema.close().catch(() => undefined)
  })
  return { stage, running }
}

const PAGES = { entities: '/entities', entity: '/entities/conveyor_belt-north' } as const

/** What the pages show while the agent does not answer as it usually does. */
interface State {
  readonly path: string
  /** Requests that get another answer. */
  readonly requests: string
  readonly answer: (route: Route) => Promise<void>
  /** Selector of what the page shows. */
  readonly says: string
  /** What the console may say. */
  readonly expected?: RegExp
}

const FAILED_REQUEST = /^console: Failed to load resource/
const never = () => new Promise<void>(() => undefined)
const fail = (route: Route) => route.fulfill({ status: 503, json: { error: { code: 'X', message: 'it is too busy' } } })
const withoutDevices = (route: Route) => route.fulfill({ json: { nowMs: Date.now(), devices: [] } })
const withoutTypes = (route: Route) => route.fulfill({ json: { types: [], leftOut: 0 } })
const LOADING = '[aria-busy="true"]'

const STATES: Readonly<Record<string, State>> = {
  'entities-loading': { path: PAGES.entities, requests: 'devices', answer: never, says: LOADING },
  'entities-empty': {
    path: PAGES.entities,
    requests: 'devices',
    answer: withoutDevices,
    says: 'text=No source and no application tells of any.',
  },
  'entities-error': {
    path: PAGES.entities,
    requests: 'devices',
    answer: fail,
    says: 'text=The entities are not known.',
    expected: FAILED_REQUEST,
  },
  'entity-loading': { path: PAGES.entity, requests: 'devices', answer: never, says: LOADING },
  'entity-empty': { path: PAGES.entity, requests: 'types', answer: withoutTypes, says: 'text=It has no series.' },
  'entity-error': {
    path: PAGES.entity,
    requests: 'types',
    answer: fail,
    says: 'text=No data came.',
    expected: FAILED_REQUEST,
  },
  'entity-unknown': {
    path: PAGES.entity,
    requests: 'devices',
    answer: fail,
    says: 'text=it is too busy',
    expected: FAILED_REQUEST,
  },
}

test('what one type declares has a page', needs('chromium-headless-shell'), async (t) => {
  const { stage, running } = await startHall(t)
  await t.test('with what tells of it, its relations, and its series as charts', () =>
    stage.visit(PAGES.entity, async (page) => {
      await page.getByRole('heading', { level: 1, name: 'Conveyor belt north' }).waitFor()
      await page.getByText('Conveyor belt north is reported by hall.').first().waitFor()
      const facts = page.getByRole('region', { name: 'Conveyor belt north now' })
      await facts.getByText('type belt_info').waitFor()
      // Values come with the next answer.
      await facts.filter({ hasText: /Top speed\s*2\.5/ }).waitFor()
      assert.match((await facts.textContent()) ?? '', /Belt\s*north.*Top speed\s*2\.5/)
      for (const title of ['Turns', 'Celsius', 'Top speed']) await page.getByRole('heading', { name: title }).waitFor()
      await page.getByText('roller 2').first().waitFor()
      await page.getByRole('link', { name: 'Robot walter/left' }).click()
      await page.getByRole('heading', { level: 1, name: 'Robot walter/left' }).waitFor()
      await page.getByRole('link', { name: 'Conveyor belt south' }).waitFor()
    }),
  )
  await t.test('and is found from the node, the list and the search', () =>
    stage.visit('/', async (page) => {
      await page.getByRole('link', { name: '2 × Conveyor belt, 2 × Robot' }).click()
      await page.getByRole('link', { name: 'Conveyor belt south' }).waitFor()
      await page.keyboard.press('/')
      await page.getByRole('combobox').fill('belt nor')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Conveyor belt north' }).waitFor()
    }),
  )
  for (const [name, path] of Object.entries(PAGES)) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await t.test(`${name}, ${colorScheme}, fits its screens`, (t) =>
        stage.visit(path, (page) => inspect(t, page, name, colorScheme), { colorScheme }),
      )
    }
  }
  for (const [name, { path, requests, answer, says, expected }] of Object.entries(STATES)) {
    await t.test(`${name}: says so, and fits its screens`, async (t) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const before = (page: Page) => page.route(`**/api/v1/${requests}`, answer)
        const look = async (page: Page) => {
          await inspect(t, page, `state-${name}`, colorScheme, () =>
            page.locator('main').locator(says).first().waitFor(),
          )
        }
        await stage.visit(path, look, { before, colorScheme, ...(expected === undefined ? {} : { expected }) })
      }
    })
  }
  await t.test('a name that nothing has says so', () =>
    stage.visit('/entities/conveyor_belt-west', async (page) => {
      await page.getByText('No entity named conveyor_belt-west is known here.').waitFor()
    }),
  )
  await t.test('what left says when and why', (t) =>
    stage.visit(PAGES.entity, async (page) => {
      await page.getByText('Conveyor belt north is reported').first().waitFor()
      running.delete('north')
      await page
        .getByText(/Conveyor belt north is gone since/)
        .first()
        .waitFor()
      await page
        .getByText(/Its hall is closed\./)
        .first()
        .waitFor()
      await takePicture(t, page, 'entity-gone')
    }),
  )
})

async function inspect(t: TestContext, page: Page, name: string, colours: string, ready = untilDrawn): Promise<void> {
  for (const screen of [SCREENS.desk, SCREENS.phone]) {
    await page.setViewportSize(screen)
    await ready(page)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    assert.equal(overflow, 0, `the page scrolls sideways at ${screen.width} px`)
    await takePicture(t, page, `${name}-${screen.width}-${colours}`)
    await assertSound(page, { contrastOnly: colours === 'dark' })
  }
}
