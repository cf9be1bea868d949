// Queries without data over the recorded samples of test/dashboards, and why. The page lists them.

/** Reasons by the place of the query: UID of the dashboard, and title of the panel. */
export const WITHOUT_DATA: Readonly<Record<string, string>> = {
  'sonde-self · Destinations down': 'the simulated agent sends nowhere',
  'sonde-self · Queues': 'the simulated agent sends nowhere',
  'sonde-self · Lag': 'the simulated agent sends nowhere',
  'sonde-self · History on disk': 'the simulated agent keeps no history',
}
