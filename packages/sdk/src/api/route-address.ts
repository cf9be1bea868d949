/**
 * Values for the names of a route (`:name`) and of its query. Lists are written with commas. Undefined and empty values
 * are left out.
 */
export type RouteParameters = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** The address of a route: parameters that its path does not name go into the query. */
export function routeAddress(route: string, parameters: RouteParameters = {}): string {
  const given = new Map(
    Object.entries(parameters).map(([name, value]) => [name, encodeURIComponent(String(value ?? ''))]),
  )
  const path = route.replace(/:(\w+)/g, (_, name: string) => {
    const value = given.get(name) ?? ''
    given.delete(name)
    return value
  })
  const query = [...given].filter(([, value]) => value !== '').map(([name, value]) => `${name}=${value}`)
  return query.length === 0 ? path : `${path}?${query.join('&')}`
}
