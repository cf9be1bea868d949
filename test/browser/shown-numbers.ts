import assert from 'node:assert/strict'
import type { Locator } from 'playwright-core'

const MIB = 2 ** 20
const FACTORS: Readonly<Record<string, number>> = { '%': 1, W: 1, kW: 1000, MiB: MIB, GiB: 1024 * MIB, KiB: 1024 }

/** A number as the page writes it, and how far off rounding may have brought it. */
function readNumber(text: string): { value: number; errorMax: number } {
  const [, digits = '', unit = ''] = /^([\d.,\u2009]+)\s*(\S+)$/u.exec(text.trim()) ?? []
  const factor = FACTORS[unit]
  assert.ok(factor !== undefined && digits !== '', `"${text}" is no number with a unit that is known`)
  const plain = digits.replace(/[\u2009,]/gu, '')
  const decimals = plain.split('.')[1]?.length ?? 0
  return { value: Number(plain) * factor, errorMax: (0.5 * factor) / 10 ** decimals + 1e-6 }
}

/** Fails unless the page shows a number, but for what it rounds off. */
export function assertShown(text: string, expected: number | undefined, what: string): void {
  const { value, errorMax } = readNumber(text)
  assert.ok(expected !== undefined && Math.abs(value - expected) <= errorMax, `${what}: ${text}, expected ${expected}`)
}

/** The words of a fact in a strip of facts: its value, and the line below it. */
export async function factOf(strip: Locator, name: string): Promise<string> {
  const label = strip
    .page()
    .locator('dt')
    .filter({ hasText: new RegExp(`^${name}$`) })
  const words = await strip.locator('.fact').filter({ has: label }).locator('dd').allInnerTexts()
  return words.join(' ').replaceAll('\u00a0', ' ')
}
