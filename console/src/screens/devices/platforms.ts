const platforms: Readonly<Record<string, { readonly name: string; readonly provider: string }>> = {
  ios: { name: 'iOS', provider: 'APNs' },
  android: { name: 'Android', provider: 'FCM' },
  expo: { name: 'Expo', provider: 'Expo' },
  web: { name: 'Browser', provider: 'the push service of the browser' },
};

export const platformName = (platform: string): string => platforms[platform]?.name ?? platform;

/** The service that delivers the pushes of a platform. */
export const providerName = (platform: string): string => platforms[platform]?.provider ?? 'the push service';
