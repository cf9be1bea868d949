/** Says of a row that it is simulated, where real ones stand beside it; nothing where it is not. */
export function SimulatedMark({ of }: { readonly of: { readonly simulated: boolean } }) {
  return of.simulated ? <span className="badge is-simulated">simulated</span> : null
}
