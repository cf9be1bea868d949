import type { Matcher } from '@sonde/sdk/internal'

/** Histories refuse longer expressions. Unit: characters. */
const EXPRESSION_MAX = 400

/**
 * Matchers of an app and some of its services. If their names are too long for one expression, all services of the app
 * match, and the caller filters the answer.
 */
export function serviceMatchers(app: string, services: readonly string[] | undefined): Matcher[] {
  const ofApp: Matcher = { label: 'app', op: '=', value: app }
  if (services === undefined) return [ofApp]
  const value = services.map(escapeExpression).join('|')
  return value.length > EXPRESSION_MAX ? [ofApp] : [ofApp, { label: 'service', op: '=~', value }]
}

function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
