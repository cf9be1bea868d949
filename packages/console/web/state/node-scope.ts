import { markInvisible } from '../format/marked-text.ts'
import { createValueStore } from './value-store.ts'

/** Whether the server is a console, which has no devices, events and hints of its own. */
export const isConsole = createValueStore(false)

/** Routes of an agent that every page asks again and again. */
const OF_AGENT = /^\/api\/v1\/(devices|hints|incidents|sources|simulator)(?=[/?]|$)/

/** Routes of a console itself. All others are asked of the node that a page is about. */
const OF_CONSOLE = /^\/api\/v1\/(session|login|logout|params|audit|webhooks|nodes)(?=[/?]|$)/

/**
 * The beginning of the paths of pages about one node of a console: `/nodes/NAME`. Empty for the pages of the server
 * itself. It stays the same as long as the page is loaded.
 */
export function pageBase(): string {
  return /^\/nodes\/[^/]+/.exec(globalThis.location?.pathname ?? '')?.[0] ?? ''
}

/** The name of the node of a console that the page is about; empty for the pages of the server itself. */
export function scopedNode(): string {
  const name = pageBase().slice('/nodes/'.length)
  try {
    return markInvisible(decodeURIComponent(name))
  } catch {
    // A stray per cent sign stands for itself.
    return name
  }
}

/** Whether nothing is to be asked at a route: the page is about a console, and only an agent has it. */
export function isUnanswerable(address: string): boolean {
  return isConsole.get() && pageBase() === '' && OF_AGENT.test(address)
}

/** The address of a route: that of the node that the page is about, if there is one. */
export function scopedAddress(address: string): string {
  const base = pageBase()
  return base === '' || OF_CONSOLE.test(address) ? address : address.replace(/^\/api\/v1/, `/api/v1${base}`)
}
