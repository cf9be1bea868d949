import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Absences, absenceType, createIpc, createSchema } from '@sonde/sdk'
import type { Page } from 'playwright-core'
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

async function inspect(t: TestContext, page: Page, name: string, colours: string): Promise<void> {
  for (const screen of [SCREENS.desk, SCREENS.phone]) {
    await page.setViewportSize(screen)
    await untilDrawn(page)
    await page.getByText('Conveyor belt').first().waitFor()
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    assert.equal(overflow, 0, `the page scrolls sideways at ${screen.width} px`)
    await takePicture(t, page, `${name}-${screen.width}-${colours}`)
    await assertSound(page, { contrastOnly: colours === 'dark' })
  }
}
